'use strict';
// Tables: a click on a column's head sorts by it; a word typed above a table leaves the rows that hold it.
function value(row, i) {
  const cell = row.cells[i], v = cell.dataset.v ?? cell.textContent.trim();
  return v !== '' && !isNaN(v) ? Number(v) : v;
}
function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a.localeCompare(b);
}
function sortBy(table, i) {
  const head = table.tHead.rows[0].cells[i], down = head.getAttribute('aria-sort') === 'ascending';
  for (const th of table.tHead.rows[0].cells) th.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => (down ? -1 : 1) * compare(value(a, i), value(b, i)));
  table.tBodies[0].append(...rows);
}
for (const table of document.querySelectorAll('table')) {
  [...table.tHead.rows[0].cells].forEach((th, i) => th.addEventListener('click', () => sortBy(table, i)));
  if (table.tBodies[0].rows.length < 12) continue;
  const filter = document.createElement('input');
  filter.className = 'filter';
  filter.placeholder = 'only rows with ...';
  filter.addEventListener('input', () => {
    for (const row of table.tBodies[0].rows)
      row.hidden = !row.textContent.toLowerCase().includes(filter.value.toLowerCase());
  });
  table.before(filter);
}

// Pictures: the wheel magnifies at the pointer, dragging moves, a double click shows all again; a click on an entry of
// the legend hides what it names. Where there is a time axis, time alone is magnified.
function zoomable(view, changed) {
  const all = view.getAttribute('viewBox').split(' ').map(Number);
  let now = [...all];
  const onlyX = view.classList.contains('zoom');
  function show() {
    for (const k of [0, 1]) {
      now[k + 2] = Math.min(now[k + 2], all[k + 2]);
      now[k] = Math.min(Math.max(now[k], all[k]), all[k] + all[k + 2] - now[k + 2]);
    }
    view.setAttribute('viewBox', now.join(' '));
    if (changed) changed(now, all);
  }
  function at(e) {
    const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(view.getScreenCTM().inverse());
    return [p.x, p.y];
  }
  function magnify(by, p) {
    for (const k of onlyX ? [0] : [0, 1]) {
      const size = Math.max(now[k + 2] * by, all[k + 2] / 1e5);
      now[k] = p[k] - (p[k] - now[k]) * size / now[k + 2];
      now[k + 2] = size;
    }
    show();
  }
  function reset() { now = [...all]; show(); }
  const target = view.ownerSVGElement || view;
  target.addEventListener('wheel', e => { e.preventDefault(); magnify(e.deltaY < 0 ? 0.8 : 1.25, at(e)); },
    { passive: false });
  target.addEventListener('pointerdown', e => {
    const from = at(e);
    const move = e => {
      const to = at(e);
      for (const k of onlyX ? [0] : [0, 1]) now[k] -= to[k] - from[k];
      show();
    };
    const up = () => { removeEventListener('pointermove', move); removeEventListener('pointerup', up); };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
    e.preventDefault();
  });
  target.addEventListener('dblclick', reset);
  const middle = () => [now[0] + now[2] / 2, now[1] + now[3] / 2];
  return { nearer: () => magnify(0.5, middle()), farther: () => magnify(2, middle()), reset };
}
function number(v) { return String(Number(v.toPrecision(10))); }
function retick(svg, now, all) {
  const ticks = svg.querySelector('g.ticks');
  if (!ticks) return;
  const d = ticks.dataset, end = Number(d.end), from = now[0] / all[2] * end, span = now[2] / all[2] * end;
  const power = 10 ** Math.floor(Math.log10(span / 12));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => span / s <= 12);
  let text = '';
  for (let k = Math.ceil(from / step - 1e-9); k * step <= from + span * (1 + 1e-9); k++) {
    const x = Number(d.left) + (k * step - from) / span * Number(d.width);
    text += `<path d="M${x} ${d.top}v${d.height}" stroke="#ddd"/>` +
      `<text x="${x}" y="${Number(d.top) + Number(d.height) + 15}" text-anchor="middle">${number(k * step)}</text>`;
  }
  ticks.innerHTML = text;
  const words = svg.querySelector('g.words');
  if (words) words.style.display = now[2] < all[2] ? 'none' : '';
}
for (const svg of document.querySelectorAll('svg.gs')) {
  const inner = svg.querySelector('svg.zoom');
  const z = zoomable(inner || svg, (now, all) => retick(svg, now, all));
  const bar = document.createElement('div');
  for (const [name, act] of [['nearer', z.nearer], ['farther', z.farther], ['all', z.reset]]) {
    const button = document.createElement('button');
    button.textContent = name;
    button.addEventListener('click', act);
    bar.append(button);
  }
  svg.parentElement.before(bar);
  for (const key of svg.querySelectorAll('.key'))
    key.addEventListener('click', () => {
      const off = key.classList.toggle('off');
      for (const part of key.closest('.panel').querySelectorAll('.' + key.dataset.s)) part.style.display = off ? 'none' : '';
    });
}
