2026-11-26 13:54:44.344 gpusparcd: info: listens on /work/main/sock
