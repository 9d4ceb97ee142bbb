#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Applies gpusparc's edits to the source of PoCL 6.0's remote engine: remote_edits.py FOLDER

Each edit says what it mends and finds its place by a pattern that must fit exactly once: a source that isn't the one
these edits are for is refused, and nothing of it is built. `scripts/remote.sh` calls this; docs/hosts.md has the list
of what each is for, in the words of a user.
"""
import re
import sys
from pathlib import Path

NETWORK = "lib/CL/devices/remote/communication.c"
MESSAGES = "include/messages.h"
NETWORK_H = "lib/CL/devices/remote/communication.h"
MEMORY = "lib/CL/pocl_util.c"
DEVICE = "lib/CL/devices/remote/remote.c"
SERVER = "pocld/daemon.cc"
REQUEST = "pocld/request.cc"
SHARED = "pocld/shared_cl_context.cc"
edits = []


def edit(name, why):
    """A group of changes that mend one thing."""
    edits.append((name, why, []))


def change(path, pattern, text):
    """Puts `text` (a template of re) for what `pattern` matches in the file."""
    edits[-1][2].append((path, pattern, text))


edit("ended", "A command on its caller's stack is gone once its status says that it has ended: the status is set last, "
              "with its lock held, and not before the thread that has sent the command is done with it.")
change(NETWORK, r"\n  running_cmd->status = NETCMD_FINISHED;\n\n  if \(running_cmd->synchronous\)\n    \{\n(.*)\n", r"""
  while (POCL_ATOMIC_LOAD (running_cmd->client_write_end_timestamp_ns) == 0)
    ;
  if (!running_cmd->synchronous)
    running_cmd->status = NETCMD_FINISHED;

  if (running_cmd->synchronous)
    {
\1
      running_cmd->status = NETCMD_FINISHED;
""")

edit("no_peers", "PoCL's own way from server to server stays off: it moves whole buffers, and its listener is open to every "
                 "network.")
change(NETWORK, r"(\npocl_network_setup_peer_mesh \(\)\n\{\n)", r"\1  return CL_SUCCESS;\n")
change(DEVICE, r"return 10;", r"return 0;")
change(SERVER, r"  if \(!UseVsock\) \{\n(    peer_listener_data\.port)", r"  if (false) {\n\1")

edit("buffers", "Buffers of 4 KiB for commands let more than 50 launches in flight wait for each other.")
change(NETWORK, r"(define NETWORK_BUF_SIZE_FAST) .*", r"\1 (1024 * 1024)")
change(SERVER, r"(define COMMAND_SOCKET_BUFSIZE) .*", r"\1 (1024 * 1024)")

edit("rows", "Rectangles, and regions of images, whose rows don't follow each other in the host's memory came and went as if "
             "they did: they are packed and unpacked beside it.")
change(DEVICE, r"\nint\npocl_remote_async_read \(", r"""
/* Rows of the host's memory, packed, of a rectangle that is on its way. */
typedef struct packed_rows_s
{
  remote_device_data_t *device;
  char *host;
  size_t region[3], row_pitch, slice_pitch, bytes;
  int is_read;
  char packed[];
} packed_rows;

static int
rows_are_apart (const size_t *region, size_t row_pitch, size_t slice_pitch)
{
  return (region[1] > 1 && row_pitch != region[0])
         || (region[2] > 1 && slice_pitch != region[0] * region[1]);
}

static void
carry_rows (packed_rows *r)
{
  char *at = r->packed;
  for (size_t z = 0; z < r->region[2]; ++z)
    for (size_t y = 0; y < r->region[1]; ++y, at += r->region[0])
      {
        char *host = r->host + y * r->row_pitch + z * r->slice_pitch;
        memcpy (r->is_read ? host : at, r->is_read ? at : host, r->region[0]);
      }
}

static packed_rows *
pack_rows (void *device, char *host, const size_t *region, size_t row_pitch,
           size_t slice_pitch, int is_read)
{
  size_t bytes = region[0] * region[1] * region[2];
  packed_rows *r = malloc (sizeof *r + bytes);
  if (r == NULL)
    POCL_ABORT ("no memory for the rows of a rectangle\\n");
  r->device = device;
  r->host = host;
  memcpy (r->region, region, sizeof r->region);
  r->row_pitch = row_pitch;
  r->slice_pitch = slice_pitch;
  r->bytes = bytes;
  r->is_read = is_read;
  if (!is_read)
    carry_rows (r);
  return r;
}

static void
finish_rows (void *arg, _cl_command_node *node, size_t extra_rep_bytes)
{
  packed_rows *r = arg;
  remote_device_data_t *device = r->device;
  if (r->is_read)
    carry_rows (r);
  free (r);
  remote_finish_command (device, node, extra_rep_bytes);
}

int
pocl_remote_async_read (""")
for way, host in (("read", "char *"), ("write", "char *")):
    buffer = "src_id" if way == "read" else "dst_id"
    change(DEVICE, r"(\n  int r = pocl_network_%s_rect \()" % way, r"""
  if (rows_are_apart (region, host_row_pitch, host_slice_pitch))
    {
      packed_rows *rows
          = pack_rows (data, (%s)adjusted_host_ptr, region, host_row_pitch,
                       host_slice_pitch, %d);
      int err = pocl_network_%s_rect (
          queue_id, data, %s, buffer_origin, region, buffer_row_pitch,
          buffer_slice_pitch, rows->packed, rows->bytes, finish_rows, rows,
          node);
      assert (err == 0);
      return;
    }
\1""" % (host, way == "read", way, buffer))

for way, host, image in (("read", "dst", "src"), ("write", "src", "dst")):
    change(DEVICE, r"\n      size_t px = %s_image->.*\n" % image, r"""\g<0>      if (%(image)s_image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY && %(host)s_slice_pitch)
        %(host)s_row_pitch = %(host)s_slice_pitch; /* a layer is one row */
""" % {"host": host, "image": image})
    change(DEVICE, r"\n      assert \(%s_host_ptr\);\n" % host, r"""\g<0>
      size_t bytes[3] = { px * region[0], region[1], region[2] };
      if (rows_are_apart (bytes, %(host)s_row_pitch, %(host)s_slice_pitch))
        {
          packed_rows *rows = pack_rows (data, (char *)%(host)s_host_ptr, bytes,
                                         %(host)s_row_pitch, %(host)s_slice_pitch, %(is_read)d);
          return pocl_network_%(way)s_image_rect (
              queue_id, data, %(image)s_id, origin, region, rows->packed,
              rows->bytes, finish_rows, rows, node);
        }
""" % {"way": way, "host": host, "image": image, "is_read": way == "read"})

edit("failed", "A command that the server's driver refused, or that failed there, passed for done: wrong bytes in silence. The "
               "server ends: its status is 100 and the error without its sign, 199 at most.")
change("pocld/common.hh", r"#include <vector>\n", r"#include <unistd.h>\n\g<0>")
change("pocld/common.hh", r"\n#define RETURN_IF_ERR_CODE\(", r"""
[[noreturn]] inline void endWithError(int Error) {
  _exit(100 + (Error < 0 && Error > -99 ? -Error : 99));
}
\g<0>""")
change("pocld/cmd_queue.cc", r"\n    assert\(false && \"unknown message type\"\);\n  \}\n", r"""\g<0>  if (reply->rep.failed)
    endWithError(reply->rep.fail_details);
""")
change("pocld/reply_th.cc", r"(\n        if \(status < CL_COMPLETE\)) \{\n(?:.*\n){3} +\}\n", r"\1\n          endWithError(status);\n")

edit("required", "A launch with another local size than the kernel requires wasn't refused.")
change(SHARED, r"temp_kernel\.reqd_wg_size = \{0, 0, 0\};", r"""const auto Required =
        kernels[i].getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(
            program->devices[0]);
    temp_kernel.reqd_wg_size = {Required[0], Required[1], Required[2]};""")

edit("layers", "An image's first contents were sent without its layers but the first, and as if rows followed each other. Its "
               "pitches are those of the client's memory: with memory of their own some drivers refuse them.")
for way in ("read", "write"):
    change(DEVICE, r"(\n +r = pocl_remote_async_%s_image_rect \(\n +d, node, m, cmd->migrate[^;]*, region, )0, 0, 0\);" % way, r"""
                if (m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY)
                  region[1] = m->image_array_size;
                if (m->type == CL_MEM_OBJECT_IMAGE2D_ARRAY)
                  region[2] = m->image_array_size;\1m->image_row_pitch,
                    m->image_slice_pitch, 0);""")
for pitch in ("row", "slice"):
    change(NETWORK, r"create_image\.%s_pitch = .*;" % pitch, r"create_image.%s_pitch = 0;" % pitch)

edit("windows", "A sub-buffer as a kernel's argument was its parent from its first byte on: its begin goes along, in units "
                "of 128 bytes, and the server makes a sub-buffer of its own.")
change(DEVICE, r"uint32_t mem_id = 0;(\n +if \(al->value\))", r"uint64_t mem_id = 0;\1")
change(DEVICE, r"(\n +if \(arg_array\[i\] != mem_id\))", r"\n          mem_id |= (uint64_t)(al->offset / 128) << 32;\1")
change(SHARED, r"(\n  std::unordered_map<BufferId_t, clBufferPtr> BufferIDmap;\n)", r"""\1
  /* NVIDIA's driver crashes where of two that overlap the older one goes first. */
  struct NewestGoesFirst {
    std::vector<std::pair<uint64_t, cl::Buffer>> Made;
    ~NewestGoesFirst() {
      while (!Made.empty())
        Made.pop_back();
    }
  };
  std::mutex WindowsMutex;
  std::unordered_map<uint64_t, NewestGoesFirst> Windows;

  cl::Buffer windowOf(uint64_t Id, cl::Buffer &Parent, uint64_t Unit) {
    std::unique_lock<std::mutex> Lock(WindowsMutex);
    auto &Made = Windows[Id].Made;
    for (auto &W : Made)
      if (W.first == Unit)
        return W.second;
    size_t Begin = Unit * 128;
    cl_buffer_region Region = {Begin, Parent.getInfo<CL_MEM_SIZE>() - Begin};
    Made.emplace_back(Unit, Parent.createSubBuffer(
                                0, CL_BUFFER_CREATE_TYPE_REGION, &Region));
    return Made.back().second;
  }
""")
change(SHARED, r"err = k->setArg<>\(i, \(\*b\)\);",
       r"err = k->setArg<>(\n                i, args[i] >> 32 ? windowOf(buffer_id, *b, args[i] >> 32) : *b);")
change(SHARED, r"(\nint SharedCLContext::freeBuffer\([^{]*\{\n)", r"""\1  if (!IsSVMFree) {
    std::unique_lock<std::mutex> Lock(WindowsMutex);
    Windows.erase(BufferId);
  }
""")

edit("upload", "Who read a buffer while its first contents were on their way for another queue's command didn't wait for them.")
change(MEMORY, r"\n  /\* we don't need it anymore\. \*/\n  if", r"""
  if (last_migration_event == NULL && previous_last_event != NULL
      && previous_last_event->command_type == CL_COMMAND_MIGRATE_MEM_OBJECTS)
    last_migration_event = previous_last_event;
  else if""")

edit("headers", "clCompileProgram's headers weren't sent: each `#include` of one is replaced by its text. What is linked has "
                "to be asked for its kernels' arguments, or they pass for images, and is linked for the devices that its "
                "parts were compiled for. What is only compiled has no kernels to ask for.")
change(DEVICE, r"\nint\npocl_remote_build_source \(", r"""
/* The text of a program, with that of its headers in it; to be freed. A header that includes itself ends somewhere. */
static char *
text_with_headers (const char *text, cl_uint n, const cl_program *headers,
                   const char **names, unsigned depth)
{
  char *all = NULL;
  size_t size;
  FILE *f = open_memstream (&all, &size);
  if (f == NULL)
    POCL_ABORT ("no memory for a program's text\\n");
  while (*text)
    {
      size_t line = strcspn (text, "\\n");
      char name[256];
      cl_uint h = n;
      if (depth < 32
          && sscanf (text, " # include %*1[<\\"]%255[^>\\"\\n]", name) == 1)
        for (h = 0; h < n && strcmp (names[h], name) != 0; ++h)
          ;
      if (h < n)
        {
          char *inner = text_with_headers (headers[h]->source, n, headers,
                                           names, depth + 1);
          fputs (inner, f);
          free (inner);
        }
      else
        fwrite (text, 1, line, f);
      text += line;
      if (*text)
        fputc (*text++, f);
    }
  fclose (f);
  return all;
}

int
pocl_remote_build_source (""")
change(DEVICE, r"""  err = pocl_network_build_or_link_program \(
      d, program->source, strlen \(program->source\), CL_FALSE, CL_FALSE,
(.*\n.*\n.*\n.*)d->svm_region_offset, !link_program, 0\);\n""",
       r"""  char *text = text_with_headers (program->source, num_input_headers,
                                  input_headers, header_include_names, 0);
  err = pocl_network_build_or_link_program (
      d, text, strlen (text), CL_FALSE, CL_FALSE,
\1d->svm_region_offset, !link_program, 0);
  free (text);
""")
change(SHARED, r"ContextWithAllDevices\.get\(\), 0, nullptr, options,", r"""ContextWithAllDevices.get(),
        AlwaysBuildAll ? 0 : static_cast<cl_uint>(Devices.size()),
        AlwaysBuildAll ? nullptr : Devices.data(), opts.c_str(),""")
change(SHARED, r"\n    cl_program LinkedProgram = ::clLinkProgram\(", r"""
    std::vector<cl_device_id> Devices;
    for (auto &D : program->devices)
      Devices.push_back(D());
\g<0>""")
change(SHARED, r"\n  err = p->createKernels", r"\n  if (!CompileOnly)\n  \g<0>")

edit("clock", "Profiles carried the server's clock: they are brought to the client's by the quickest exchange so far.")
change(NETWORK_H, r"(\n  uint8_t authkey\[AUTHKEY_LENGTH\];\n)", r"\1  uint64_t clock_took_ns;\n  int64_t clock_ahead_ns;\n")
change(NETWORK, r"\nstatic void \*\npocl_remote_reader_pthread \(", r"""
static void
bring_to_one_clock (remote_server_data_t *remote, network_command *cmd,
                    uint64_t read_ns)
{
  uint64_t sent_ns = POCL_ATOMIC_LOAD (cmd->client_write_start_timestamp_ns);
  uint64_t took_ns = read_ns - sent_ns;
  ReplyMsg_t *reply = &cmd->reply;
  if (reply->server_read_start_timestamp_ns == 0)
    return;
  POCL_LOCK (remote->setup_lock.mutex);
  if (cmd->synchronous
      && (remote->clock_took_ns == 0 || took_ns < remote->clock_took_ns))
    {
      remote->clock_took_ns = took_ns;
      remote->clock_ahead_ns
          = (int64_t)(reply->server_read_start_timestamp_ns - sent_ns
                      - took_ns / 2);
    }
  reply->server_read_start_timestamp_ns -= (uint64_t)remote->clock_ahead_ns;
  reply->server_read_end_timestamp_ns -= (uint64_t)remote->clock_ahead_ns;
  POCL_UNLOCK (remote->setup_lock.mutex);
}

static void *
pocl_remote_reader_pthread (""")
change(NETWORK, r"\n      finish_running_cmd \(running_cmd\);\n",
       r"\n      bring_to_one_clock (remote, running_cmd, start_ts);\n      finish_running_cmd (running_cmd);\n")

edit("direct", "What is read to an address with its highest bit set, which is no memory, stays with the server, under that "
               "address as its key. What is written from there that server sends: as the client's own request, to the stream "
               "port of the one it is for, at the address after the `#` of that one's parameters.")
change(MESSAGES, r"(    uint32_t cq_id;\n)(\n    union\n    \{\n      CreateOrAttachSessionMsg_t)", r"""\1    struct
    {
      uint64_t key, session; /* of the server that keeps it */
      char address[24];      /* empty: it is for that one itself */
    } kept;
\2""")
change(NETWORK, r"\ncl_int\npocl_network_read \(", r"""
/* Which server keeps what has been read to an address that is no memory. */
typedef struct kept_s
{
  const void *at;
  remote_server_data_t *keeper;
  struct kept_s *next;
} kept_t;
static kept_t *all_kept;
static pthread_mutex_t kept_mutex = PTHREAD_MUTEX_INITIALIZER;

static int
is_kept (const void *at)
{
  return (intptr_t)at < 0;
}

static remote_server_data_t *
keeper_of (const void *at, remote_server_data_t *reads)
{
  kept_t *k;
  pthread_mutex_lock (&kept_mutex);
  for (k = all_kept; k && k->at != at; k = k->next)
    ;
  if (k == NULL)
    {
      k = calloc (1, sizeof *k);
      if (k == NULL)
        POCL_ABORT ("no memory for a note of what is kept\\n");
      k->at = at;
      k->next = all_kept;
      all_kept = k;
    }
  if (reads)
    k->keeper = reads;
  remote_server_data_t *keeper = k->keeper;
  pthread_mutex_unlock (&kept_mutex);
  if (keeper == NULL)
    POCL_ABORT ("a write of what no server keeps\\n");
  return keeper;
}

/* By way of the server that keeps it; the answer is that of the other one. */
static int
send_kept (remote_server_data_t *to, network_command *netcmd, const void *at)
{
  remote_server_data_t *data = keeper_of (at, NULL);
  netcmd->request.kept.key = (uintptr_t)at;
  netcmd->request.kept.session = data->session;
  if (data != to)
    strncpy (netcmd->request.kept.address, to->peer_address,
             sizeof netcmd->request.kept.address - 1);
  netcmd->req_extra_data = NULL;
  netcmd->req_extra_size = 0;
  SEND_REQ_FAST;
  return 0;
}

cl_int
pocl_network_read (""")
for what, to in (("BUFFER", "host_ptr"), ("BUFFER_RECT", "host_ptr"), ("IMAGE_RECT", "p")):
    change(NETWORK, r"\n  TP_READ_%s \(" % what, r"""
  if (is_kept (%s))
    {
      req->kept.key = (uintptr_t)%s;
      keeper_of (%s, data);
    }
\g<0>""" % (to, to, to))
for what in ("WRITE_BUFFER", "WRITE_BUFFER_RECT", "WRITE_IMAGE_RECT"):
    change(NETWORK, r"\n  TP_%s \(" % what, r"""
  if (is_kept (host_ptr))
    return send_kept (data, netcmd, host_ptr);
\g<0>""")
change(NETWORK, r"\n      bring_to_one_clock \(remote, running_cmd, start_ts\);\n", r"""
      if (running_cmd->request.kept.key)
        running_cmd->reply.data_size = running_cmd->rep_extra_size;\g<0>""")
change("pocld/request.hh", r"\nclass Request \{\n", r"""
class Request;

/** Keeps what a request has read, which holds until the next one with that key. */
void keepData(const RequestMsg_t &read, std::vector<uint8_t> &&data);

/** Drops what is kept for a session that has ended. */
void dropKept(uint64_t session);

/** Is it a write of kept data for another server? Then it is on its way there, and no longer the caller's. One for this
 * server has its data afterwards. */
bool sendKept(Request *request);
\g<0>""")
for size in (r"write\.size", r"write_rect\.host_bytes", r"write_image_rect\.host_bytes"):
    change(REQUEST, r"request->extra_size = (req->m\.%s);" % size, r"request->extra_size = req->kept.key ? 0 : \1;")
change(REQUEST, r"#include <unistd\.h>\n", r"""#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
""")
change(REQUEST, r"\nconst char \*request_to_str\(", r"""
namespace {
typedef std::shared_ptr<std::vector<uint8_t>> KeptData;
std::mutex KeptMutex;
typedef std::pair<uint64_t, uint64_t> KeptId; /* session and key */
std::map<KeptId, KeptData> AllKept;

/* A connection to another server, with a thread that writes to it: this one's other threads don't wait for a network.
 * One that fails ends this server, as what the other one waits for won't come; after a while, in which those who watch
 * the other one and the way there may say that it was that. Who takes nothing may be busy. */
class OtherServer {
  std::mutex Mutex;
  std::condition_variable Cond;
  std::deque<std::pair<std::unique_ptr<Request>, KeptData>> Queue;

  static bool writeAll(int Fd, const void *Data, size_t Size) {
    for (size_t At = 0; At < Size;) {
      ssize_t N = send(Fd, (const char *)Data + At, Size - At, MSG_NOSIGNAL);
      if (N < 0 && errno == EINTR)
        continue;
      if (N <= 0)
        return false;
      At += N;
    }
    return true;
  }

  static int connectTo(const std::string &Address) {
    size_t Colon = Address.rfind(':');
    struct addrinfo Hints = {}, *AI = nullptr;
    Hints.ai_family = AF_INET;
    Hints.ai_socktype = SOCK_STREAM;
    if (Colon == std::string::npos ||
        getaddrinfo(Address.substr(0, Colon).c_str(),
                    Address.substr(Colon + 1).c_str(), &Hints, &AI) != 0)
      return -1;
    int Fd = socket(AI->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), One = 1;
    setsockopt(Fd, IPPROTO_TCP, TCP_NODELAY, &One, sizeof One);
    const char *Secret = getenv("POCLD_SECRET"); /* see the edit of that name */
    bool Ok = connect(Fd, AI->ai_addr, AI->ai_addrlen) == 0 &&
              (!Secret || writeAll(Fd, Secret, strlen(Secret)));
    freeaddrinfo(AI);
    return Ok ? Fd : -1;
  }

  void run(std::string Address) {
    int Fd = connectTo(Address);
    for (;;) {
      std::unique_lock<std::mutex> Lock(Mutex);
      Cond.wait(Lock, [this] { return !Queue.empty(); });
      auto Next = std::move(Queue.front());
      Queue.pop_front();
      Lock.unlock();
      std::vector<uint8_t> Head(sizeof(uint32_t) + sizeof(RequestMsg_t));
      uint32_t Size = request_size(Next.first->req.message_type);
      memcpy(Head.data(), &Size, sizeof Size);
      memcpy(Head.data() + sizeof Size, &Next.first->req, Size);
      if (Fd < 0 || !writeAll(Fd, Head.data(), sizeof Size + Size) ||
          !writeAll(Fd, Next.second->data(), Next.second->size())) {
        usleep(1500000);
        _exit(1);
      }
    }
  }

public:
  explicit OtherServer(const std::string &Address) {
    std::thread(&OtherServer::run, this, Address).detach();
  }

  void push(Request *R, KeptData Data) {
    std::unique_lock<std::mutex> Lock(Mutex);
    Queue.emplace_back(std::unique_ptr<Request>(R), Data);
    Cond.notify_one();
  }
};
std::map<std::string, OtherServer *> OtherServers;
} // namespace

void keepData(const RequestMsg_t &Read, std::vector<uint8_t> &&Data) {
  std::unique_lock<std::mutex> Lock(KeptMutex);
  AllKept[KeptId(uint64_t(Read.session), uint64_t(Read.kept.key))] =
      std::make_shared<std::vector<uint8_t>>(std::move(Data));
}

void dropKept(uint64_t Session) {
  std::unique_lock<std::mutex> Lock(KeptMutex);
  AllKept.erase(AllKept.lower_bound(KeptId(Session, 0)),
                AllKept.upper_bound(KeptId(Session, UINT64_MAX)));
}

bool sendKept(Request *R) {
  RequestMsg_t &Req = R->req;
  uint64_t Size = Req.message_type == MessageType_WriteBuffer ? Req.m.write.size
                  : Req.message_type == MessageType_WriteBufferRect
                      ? Req.m.write_rect.host_bytes
                  : Req.message_type == MessageType_WriteImageRect
                      ? Req.m.write_image_rect.host_bytes
                      : 0;
  if (Req.kept.key == 0 || Size == 0)
    return false;
  std::unique_lock<std::mutex> Lock(KeptMutex);
  auto It = AllKept.find(
      KeptId(uint64_t(Req.kept.session), uint64_t(Req.kept.key)));
  if (It == AllKept.end() || It->second->size() != Size || Req.waitlist_size > 0) {
    POCL_MSG_ERR("What is to be written isn't kept here\\n");
    _exit(1);
  }
  KeptData Data = It->second;
  std::string Address(Req.kept.address,
                      strnlen(Req.kept.address, sizeof Req.kept.address));
  memset(&Req.kept, 0, sizeof Req.kept);
  if (Address.empty()) {
    R->extra_data = *Data;
    R->extra_size = Size;
    return false;
  }
  OtherServer *&Other = OtherServers[Address];
  if (Other == nullptr)
    Other = new OtherServer(Address);
  Other->push(R, Data);
  return true;
}
\g<0>""")
change("pocld/reply_th.cc", r"\n        auto now1 = std::chrono::system_clock::now\(\);\n        reply->write_start", r"""
        if (reply->req->req.kept.key && !reply->rep.failed) {
          keepData(reply->req->req, std::move(reply->extra_data));
          reply->extra_size = reply->rep.data_size = 0;
        }
\g<0>""")
change(SERVER, r"\n              \} else \{\n                std::unique_lock<std::mutex> LSessions", r"""
              } else if (!sendKept(R)) {
                std::unique_lock<std::mutex> LSessions""")
change(SERVER, r"\n        delete VContext;\n", r"""
        for (auto S = ClientSessions.begin(); S != ClientSessions.end();)
          if (S->second == VContext) {
            dropKept(S->first);
            S = ClientSessions.erase(S);
          } else {
            ++S;
          }
        delete VContext;
""")

edit("programs", "A source that PoCL has built before goes through clang's front end again: 20 ms of a core for each program. The "
                 "server keeps the binary beside PoCL's own cache, and makes the program from that.")
change(SHARED, r"#include <cstdio>\n#include <filesystem>\n", r"""#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
""")
change(SHARED, r"#include <sstream>\n", r"""#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
""")
change(SHARED, r"\nclass SharedCLContext final ", r"""
namespace {
/* The binary of a program that PoCL has built from source, in a file that begins with all that it depends on. Of other
 * drivers' binaries kernels needn't tell their arguments; of PoCL's they don't tell their attributes, which are kept,
 * too: lines of a name and what follows it, until an empty one. */
class KeptProgram {
  std::string Key, Path;
  std::map<std::string, std::string> Attributes;

  static std::string cacheFolder() {
    const char *F = getenv("POCL_CACHE_DIR");
    if (F)
      return F;
    if ((F = getenv("XDG_CACHE_HOME")))
      return std::string(F) + "/pocl/kcache";
    F = getenv("HOME");
    return F ? std::string(F) + "/.cache/pocl/kcache" : "";
  }

  /* Which file the driver is of: objects of OpenCL begin with a pointer to its functions. */
  static std::string driverFile(cl_platform_id Platform) {
    Dl_info Info;
    struct stat S;
    if (dladdr(*(void **)Platform, &Info) == 0 || stat(Info.dli_fname, &S) != 0)
      return "";
    std::ostringstream Text;
    Text << Info.dli_fname << ' ' << S.st_size << ' ' << S.st_mtim.tv_sec << ' '
         << S.st_mtim.tv_nsec;
    return Text.str();
  }

  static std::string hashOf(const std::string &Text) {
    std::ostringstream Digits;
    Digits << std::hex << std::hash<std::string>()(Text);
    return Digits.str();
  }

  bool read(cl::Program::Binaries &Binary) {
    std::ifstream File(Path, std::ios::binary);
    std::ostringstream Rest;
    std::string Hash;
    if (Path.empty() || !std::getline(File, Hash) || !(Rest << File.rdbuf()))
      return false;
    const std::string Text = Rest.str();
    if (Hash != hashOf(Text) || Text.compare(0, Key.size(), Key) != 0)
      return false;
    size_t At = Key.size(), End;
    while ((End = Text.find('\\n', At)) != std::string::npos && End > At) {
      const size_t Space = Text.find(' ', At);
      if (Space > End)
        return false;
      Attributes[Text.substr(At, Space - At)] =
          Text.substr(Space + 1, End - Space - 1);
      At = End + 1;
    }
    if (End == std::string::npos)
      return false;
    Binary.assign(1, {Text.begin() + End + 1, Text.end()});
    return true;
  }

public:
  KeptProgram(const cl::Device &Device, const std::string &Options,
              const std::string &Source) {
    cl::Platform Platform(Device.getInfo<CL_DEVICE_PLATFORM>());
    const std::string Driver = driverFile(Platform()), Folder = cacheFolder();
    const char *IsOn = getenv("POCL_KERNEL_CACHE");
    if (Platform.getInfo<CL_PLATFORM_NAME>() != "Portable Computing Language" ||
        Driver.empty() || Folder.empty() || (IsOn && *IsOn == '0') ||
        (Options + Source).find("include") != std::string::npos)
      return;
    std::ostringstream Text;
    Text << Platform.getInfo<CL_PLATFORM_VERSION>() << '\\n'
         << Driver << '\\n'
         << Device.getInfo<CL_DEVICE_NAME>() << '\\n'
         << Device.getInfo<CL_DEVICE_VERSION>() << '\\n';
    for (char **E = environ; *E; ++E)
      if (strncmp(*E, "POCL_", 5) == 0)
        Text << *E << '\\n';
    Text << Options << '\\n' << Source << '\\n';
    Key = Text.str();
    mkdir((Folder + "/gpusparc").c_str(), 0700);
    Path = Folder + "/gpusparc/" + hashOf(Key);
  }

  /* Built; null where none is kept, or the driver refuses it. */
  clProgramPtr make(const cl::Context &Context,
                    const std::vector<cl::Device> &Devices,
                    const std::string &Options) {
    cl::Program::Binaries Binary;
    cl_int Err;
    if (!read(Binary))
      return nullptr;
    clProgramPtr P(new cl::Program(Context, Devices, Binary, nullptr, &Err));
    return Err == CL_SUCCESS && P->build(Devices, Options.c_str()) == CL_SUCCESS
               ? std::move(P)
               : nullptr;
  }

  const std::string &attributesOf(const std::string &Kernel) {
    return Attributes[Kernel];
  }

  void write(std::vector<cl::Kernel> &Kernels,
             const std::vector<unsigned char> &Binary) const {
    std::string Text = Key, Temporary = Path + ".XXXXXX";
    const int Fd = Path.empty() ? -1 : mkstemp(&Temporary[0]);
    if (Fd < 0)
      return;
    close(Fd);
    for (cl::Kernel &K : Kernels)
      Text += K.getInfo<CL_KERNEL_FUNCTION_NAME>() + ' ' +
              K.getInfo<CL_KERNEL_ATTRIBUTES>() + '\\n';
    Text += '\\n';
    Text.append(Binary.begin(), Binary.end());
    std::ofstream File(Temporary, std::ios::binary);
    File << hashOf(Text) << '\\n' << Text;
    File.close();
    if (!File || rename(Temporary.c_str(), Path.c_str()) != 0)
      unlink(Temporary.c_str());
  }
};
} // namespace
\g<0>""")
change(SHARED, r"\n  if \(LinkOnly\) \{\n    // Collect", r"""
  std::unique_ptr<KeptProgram> Kept;
  bool IsKept = false;
  if (!LinkOnly && !CompileOnly && !is_builtin && !is_binary && !is_spirv &&
      SVMRegionOffset == 0 && DeviceList.size() == 1) {
    Kept.reset(new KeptProgram(program->devices[0], opts,
                               std::string(src, src + src_size)));
    program->uptr = Kept->make(ContextWithAllDevices, program->devices, opts);
    p = program->uptr.get();
    IsKept = p != nullptr;
  }

  if (IsKept) {
    POCL_MSG_PRINT_GENERAL("The program's binary is kept\\n");
  } else if (LinkOnly) {
    // Collect""")
change(SHARED, r"\n  if \(!LinkOnly\) \{\n    // build", r"\n  if (!LinkOnly && !IsKept) {\n    // build")
change(SHARED, r"(\n  // set up kernels\n.*\n)", r"""\1  if (Kept && !IsKept && output_binaries.size() == 1)
    Kept->write(kernels, output_binaries.begin()->second);
""")
change(SHARED, r"(std::string a = )(kernels\[i\]\.getInfo<CL_KERNEL_ATTRIBUTES>\(&ArgErr\));",
       r"\1IsKept ? Kept->attributesOf(kernel_name)\n                           : \2;")

edit("secret", "Whoever could reach a server's port could run code there. Each connection begins with the run's secret, which "
               "both sides have from their environment: a server that has one lets go of who says another.")
change(NETWORK, r"\n  RequestMsg_t hs;\n  ReplyMsg_t hsr;\n", r"""
  const char *secret = getenv ("POCLD_SECRET");
  if (secret != NULL && write_full (socket_fd, (void *)secret, strlen (secret), data) != 0)
    {
      close (socket_fd);
      return CL_INVALID_DEVICE;
    }
\g<0>""")
change(SERVER, r"\nvoid PoclDaemon::readAllClientSocketsThread\(\) \{\n", r"""
/* Its first bytes have come, in one piece: nobody writes them in two. */
static bool saysSecret(int Fd, const std::string &Secret) {
  std::vector<char> Said(Secret.size());
  unsigned char Other = 0;
  if (recv(Fd, Said.data(), Said.size(), MSG_DONTWAIT) != ssize_t(Said.size()))
    return false;
  for (size_t i = 0; i < Said.size(); ++i)
    Other |= Said[i] ^ Secret[i];
  return Other == 0;
}
\g<0>  const char *SecretText = getenv("POCLD_SECRET");
  const std::string Secret = SecretText ? SecretText : "";
  std::set<int> Unproven; // connections that haven't said it
""")
change(SERVER, r"(\n            )OpenClientFds\.push_back\(newfd\);\n", r"\1if (!Secret.empty())\1  Unproven.insert(newfd);\g<0>")
change(SERVER, r"(\n        if \(ev & POLLIN\) \{\n)(          Request \*R = IncompleteRequests)", r"""\1          if (Unproven.erase(pfds.at(i).fd)) {
            if (!saysSecret(pfds.at(i).fd, Secret))
              DroppedFds.push_back(pfds.at(i).fd);
            continue;
          }
\2""")

edit("alive", "Whoever watches a server couldn't tell one that hangs from one whose driver takes its time. The thread that "
              "hears connections has a name while it should answer.")
change(SERVER, r"\n/\* Its first bytes have come", r"""
/* What it lives for may take as long as drivers do: sessions are made and ended. */
struct TakesItsTime {
  TakesItsTime() { prctl(PR_SET_NAME, "gs-session"); }
  ~TakesItsTime() { prctl(PR_SET_NAME, "gs-reads"); }
};
\g<0>""")
change(SERVER, r"(\nvoid PoclDaemon::readAllClientSocketsThread\(\) \{\n)", r"""\1  prctl(PR_SET_NAME, "gs-reads");
""")
change(SERVER, r"( +)(VirtualContextBase \*ctx =\n +performSessionSetup)", r"""\1TakesItsTime Opening;
\1\2""")
change(SERVER, r"(\n +)(VContext->requestExit\(0,)", r"\1TakesItsTime Ending;\1\2")
change(SERVER, r"#include <sys/poll.h>\n", r"\g<0>#include <sys/prctl.h>\n")

edit("replies", "The answer to a build was made in 16 MiB of zeros, 5 ms of a core.")
change("pocld/virtual_cl_context.cc",
       r"  rep->extra_data\.resize\(MAX_REMOTE_BUILDPROGRAM_SIZE\);\n  char \*buffer = \(char\*\)\(rep->extra_data\.data\(\)\);",
       r"  std::unique_ptr<char[]> Room(new char[MAX_REMOTE_BUILDPROGRAM_SIZE]);\n  char *buffer = Room.get();")
change("pocld/virtual_cl_context.cc", r"  rep->extra_size = \(buf - buffer\);\n\n  RETURN_IF_ERR_DATA;",
       r"  rep->extra_data.assign(buffer, buf);\n\g<0>")

edit("flush", "Commands were never flushed, and their ends only looked for: a driver that submits at a flush never began them.")
change("pocld/cmd_queue.cc", r"\n  reply->event = p\.native;\n", r"""\g<0>  if (cl_command_queue Queue =
          p.native.get() ? p.native.getInfo<CL_EVENT_COMMAND_QUEUE>().get()
                         : nullptr)
    clFlush(Queue);
""")

edit("platforms", "The server calls functions of OpenCL 2 on every platform, and one of 1.x may have no such ones, or ones that "
                  "call themselves. A platform without devices, as Mesa's are beside other GPUs, has no context, and no buffer could "
                  "be made. Both kinds are left out.")
change("pocld/virtual_cl_context.cc", r"\n  cl::Platform::get\(&PlatformList\);\n", r"""\g<0>  PlatformList.erase(
      std::remove_if(PlatformList.begin(), PlatformList.end(),
                     [](const cl::Platform &P) {
                       cl_uint Devices = 0;
                       return P.getInfo<CL_PLATFORM_VERSION>().compare(
                                  0, 9, "OpenCL 1.") == 0 ||
                              clGetDeviceIDs(P(), CL_DEVICE_TYPE_ALL, 0, nullptr,
                                             &Devices) != CL_SUCCESS ||
                              Devices == 0;
                     }),
      PlatformList.end());
""")

edit("lost", "A server that is gone was looked for without end, and commands that were sent again met memory of commands "
             "long over. Its threads stop: `gpusparc run` ends the application.")
change(NETWORK, r"(\npocl_remote_reconnect_sockets \(remote_server_data_t \*remote\)\n\{\n)", r"""\1  POCL_UNLOCK (remote->setup_lock.mutex);
  for (;;)
    sleep (1000);
""")
# What it says on stderr is no use to a user: the one sentence is the launcher's.
for words in (r'fprintf \(stderr, "error %i on write', r'fprintf \(stderr, +\\\n +"error %i on read',
              r'fprintf \(stderr, "Filedescriptor closed'):
    change(NETWORK, words, r"if (0) \g<0>")


def main():
    if len(sys.argv) != 2:
        print("usage: remote_edits.py FOLDER", file=sys.stderr)
        return 2
    root = Path(sys.argv[1])
    for name, _, changes in edits:
        for path, pattern, text in changes:
            before = (root / path).read_text()
            after, n = re.subn(pattern, text, before)
            if n != 1:
                print(f"remote_edits.py: edit '{name}' fits {n} places of {path}, not 1: this isn't the source that it "
                      "is for", file=sys.stderr)
                return 1
            (root / path).write_text(after)
    print(f"remote_edits.py: {len(edits)} edits, {sum(len(c) for _, _, c in edits)} changes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
