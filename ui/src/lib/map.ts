/**
 * The layout of the service map: who calls whom, from left to right. Deterministic: the same edges give the same
 * picture, and it does not jump while counts change.
 */
import type { EdgeRow } from './types';

export interface Service {
  id: string;
  port: number;
  protocol: string;
  n: number;
  bad: number;
  p50: number | null;
  /** Middle of its row. */
  y: number;
}

export interface Box {
  id: string;
  /** `clients`: hosts that only ask, taken together. `local`: what asks on the host that answers. */
  kind: 'host' | 'client' | 'clients' | 'local';
  label: string;
  ips: string[];
  x: number;
  y: number;
  w: number;
  h: number;
  /** A host with one service is a single line. */
  slim: boolean;
  services: Service[];
}

export interface Line {
  id: string;
  from: string;
  to: string;
  service: string;
  protocol: string;
  clients: string[];
  server: string;
  port: number;
  n: number;
  errors: number;
  unanswered: number;
  p50: number | null;
  p99: number | null;
  path: string;
  /** Where a label sits. */
  lx: number;
  ly: number;
}

export interface Layout {
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

export const ROW = 27;
export const HEAD = 27;
const SLIM = 32;
const GAP = 13;
const CLIENT_W = 176;
const HOST_W = 246;
const BETWEEN = 190;
const MARGIN = 22;
/** Clients with the same targets are one box from this many on. */
const ALIKE = 4;
/** Boxes of single clients; the quieter ones share one. */
const SINGLE_CLIENTS = 18;
/** A column that is taller goes on beside itself. */
const TALL = 940;

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const serviceId = (e: EdgeRow): string => `${e.server_ip}|${e.server_port}|${e.protocol}`;

export function layout(edges: EdgeRow[]): Layout {
  const boxes = boxesOf(edges);
  const owner = new Map<string, string>();
  for (const box of boxes.values()) for (const ip of box.ips) if (box.kind !== 'local') owner.set(ip, box.id);
  const lines = linesOf(edges, owner);
  const layers = layersOf(boxes, lines);
  const size = place(boxes, lines, layers);
  for (const line of lines) route(line, boxes.get(line.from)!, boxes.get(line.to)!, lines);
  return { boxes: [...boxes.values()], lines, ...size };
}

function boxesOf(edges: EdgeRow[]): Map<string, Box> {
  const boxes = new Map<string, Box>();
  const box = (id: string, kind: Box['kind'], label: string, ips: string[]): Box => {
    const made = { id, kind, label, ips, x: 0, y: 0, w: kind === 'host' ? HOST_W : CLIENT_W, h: SLIM, slim: true, services: [] };
    boxes.set(id, made);
    return made;
  };
  const servers = [...new Set(edges.map((e) => e.server_ip))].sort(byText);
  for (const ip of servers) box(ip, 'host', ip, [ip]);
  for (const edge of edges) {
    const host = boxes.get(edge.server_ip)!;
    let service = host.services.find((s) => s.id === serviceId(edge));
    if (!service) {
      service = { id: serviceId(edge), port: edge.server_port, protocol: edge.protocol, n: 0, bad: 0, p50: null, y: 0 };
      host.services.push(service);
    }
    // The busiest edge comes first and speaks for the service: medians cannot be added.
    if (service.n === 0) service.p50 = edge.p50;
    service.n += edge.n;
    service.bad += edge.errors + edge.unanswered;
    if (edge.client_ip === edge.server_ip && !boxes.has(`local|${edge.server_ip}`)) {
      box(`local|${edge.server_ip}`, 'local', edge.server_ip, [edge.server_ip]);
    }
  }
  for (const host of boxes.values()) {
    host.services.sort((a, b) => a.port - b.port || byText(a.protocol, b.protocol));
    host.slim = host.services.length <= 1;
    host.h = host.slim ? SLIM : HEAD + host.services.length * ROW + 5;
  }
  clientsOf(edges, new Set(servers), box);
  return boxes;
}

function clientsOf(
  edges: EdgeRow[],
  servers: Set<string>,
  box: (id: string, kind: Box['kind'], label: string, ips: string[]) => Box,
): void {
  const targets = new Map<string, Set<string>>();
  const load = new Map<string, number>();
  for (const edge of edges) {
    if (servers.has(edge.client_ip)) continue;
    targets.set(edge.client_ip, (targets.get(edge.client_ip) ?? new Set()).add(serviceId(edge)));
    load.set(edge.client_ip, (load.get(edge.client_ip) ?? 0) + edge.n);
  }
  const alike = new Map<string, string[]>();
  for (const ip of [...targets.keys()].sort(byText)) {
    const key = [...targets.get(ip)!].sort(byText).join(' ');
    alike.set(key, [...(alike.get(key) ?? []), ip]);
  }
  const single: string[] = [];
  for (const [key, ips] of alike) {
    if (ips.length >= ALIKE) box(`clients|${key}`, 'clients', `${ips.length} clients`, ips);
    else single.push(...ips);
  }
  single.sort((a, b) => load.get(b)! - load.get(a)! || byText(a, b));
  const rest = single.length > SINGLE_CLIENTS ? single.splice(SINGLE_CLIENTS - 1) : [];
  for (const ip of single) box(`client|${ip}`, 'client', ip, [ip]);
  if (rest.length) box('clients|rest', 'clients', `${rest.length} more clients`, rest.sort(byText));
}

function linesOf(edges: EdgeRow[], owner: Map<string, string>): Line[] {
  const lines = new Map<string, Line>();
  for (const edge of edges) {
    const from = edge.client_ip === edge.server_ip ? `local|${edge.client_ip}` : owner.get(edge.client_ip)!;
    const id = `${from}>${serviceId(edge)}`;
    const line = lines.get(id);
    if (line) {
      line.clients.push(edge.client_ip);
      line.n += edge.n;
      line.errors += edge.errors;
      line.unanswered += edge.unanswered;
      continue;
    }
    lines.set(id, {
      id, from, to: edge.server_ip, service: serviceId(edge), protocol: edge.protocol,
      clients: [edge.client_ip], server: edge.server_ip, port: edge.server_port,
      n: edge.n, errors: edge.errors, unanswered: edge.unanswered, p50: edge.p50, p99: edge.p99,
      path: '', lx: 0, ly: 0,
    });
  }
  return [...lines.values()].sort((a, b) => byText(a.id, b.id));
}

/** Longest path from those that nobody calls; an edge that would close a circle does not count. */
function layersOf(boxes: Map<string, Box>, lines: Line[]): Map<string, number> {
  const out = new Map<string, Set<string>>();
  const called = new Set<string>();
  for (const line of lines) {
    out.set(line.from, (out.get(line.from) ?? new Set()).add(line.to));
    called.add(line.to);
  }
  const layer = new Map<string, number>();
  const open = new Set<string>();
  const order: string[] = [];
  const seen = new Set<string>();
  const forward = new Map<string, string[]>();
  const visit = (id: string): void => {
    seen.add(id);
    open.add(id);
    for (const next of [...(out.get(id) ?? [])].sort(byText)) {
      if (open.has(next)) continue;
      forward.set(id, [...(forward.get(id) ?? []), next]);
      if (!seen.has(next)) visit(next);
    }
    open.delete(id);
    order.push(id);
  };
  const ids = [...boxes.keys()].sort(byText);
  for (const id of ids) if (!called.has(id)) visit(id);
  for (const id of ids) if (!seen.has(id)) visit(id);
  for (const id of order.toReversed()) {
    const at = layer.get(id) ?? 0;
    layer.set(id, at);
    for (const next of forward.get(id) ?? []) layer.set(next, Math.max(layer.get(next) ?? 0, at + 1));
  }
  // Who only asks stands right before the nearest one it asks.
  for (const [id, box] of boxes) {
    const next = forward.get(id);
    if (box.kind !== 'host' && next?.length) layer.set(id, Math.max(0, Math.min(...next.map((n) => layer.get(n)!)) - 1));
  }
  return layer;
}

function place(boxes: Map<string, Box>, lines: Line[], layers: Map<string, number>): { width: number; height: number } {
  const columns: Box[][] = [];
  for (const box of boxes.values()) (columns[layers.get(box.id)!] ??= []).push(box);
  const filled = columns.filter((column) => column?.length);
  for (const column of filled) column.sort((a, b) => byText(a.id, b.id));
  stack(filled);
  // Each box moves towards the middle of those it talks to; few rounds settle it.
  for (let round = 0; round < 6; round++) {
    const order = round % 2 === 0 ? filled : filled.toReversed();
    for (const column of order) {
      const wish = new Map(column.map((box) => [box.id, middle(box, boxes, lines)]));
      column.sort((a, b) => wish.get(a.id)! - wish.get(b.id)! || byText(a.id, b.id));
      stack(filled);
    }
  }
  return spread(filled);
}

function middle(box: Box, boxes: Map<string, Box>, lines: Line[]): number {
  let [sum, n] = [0, 0];
  for (const line of lines) {
    const other = line.from === box.id ? line.to : line.to === box.id ? line.from : null;
    if (other === null || other === box.id) continue;
    const there = boxes.get(other)!;
    sum += line.from === box.id ? serviceY(there, line.service) : there.y + there.h / 2;
    n++;
  }
  return n ? sum / n : box.y + box.h / 2;
}

function stack(columns: Box[][]): void {
  for (const column of columns) {
    const height = column.reduce((sum, box) => sum + box.h + GAP, -GAP);
    let y = -height / 2;
    for (const box of column) {
      box.y = y;
      y += box.h + GAP;
    }
  }
}

/** Columns get their place from left to right; a tall one is folded. */
function spread(columns: Box[][]): { width: number; height: number } {
  let x = MARGIN;
  let height = 0;
  const parts: Box[][] = [];
  for (const column of columns) {
    const tall = column.reduce((sum, box) => sum + box.h + GAP, -GAP);
    const folds = Math.ceil(tall / TALL);
    const each = tall / folds;
    const folded: Box[][] = [];
    let [sum, part] = [0, [] as Box[]];
    for (const box of column) {
      part.push(box);
      sum += box.h + GAP;
      if (sum >= each) {
        folded.push(part);
        [sum, part] = [0, []];
      }
    }
    if (part.length) folded.push(part);
    for (const fold of folded) {
      for (const box of fold) box.x = x;
      x += Math.max(...fold.map((box) => box.w)) + 46;
      height = Math.max(height, fold.reduce((s, box) => s + box.h + GAP, -GAP));
      parts.push(fold);
    }
    x += BETWEEN - 46;
  }
  stack(parts);
  for (const box of parts.flat()) {
    box.y += height / 2 + MARGIN;
    box.services.forEach((service, nth) => {
      service.y = box.slim ? box.y + box.h / 2 : box.y + HEAD + nth * ROW + ROW / 2;
    });
  }
  return { width: Math.max(0, x - BETWEEN + MARGIN), height: height + 2 * MARGIN };
}

function serviceY(box: Box, id: string): number {
  const nth = box.services.findIndex((s) => s.id === id);
  return box.slim || nth < 0 ? box.y + box.h / 2 : box.y + HEAD + nth * ROW + ROW / 2;
}

function route(line: Line, from: Box, to: Box, lines: Line[]): void {
  const y1 = from.y + from.h / 2;
  const y2 = serviceY(to, line.service);
  const ahead = to.x > from.x;
  const level = to.x === from.x;
  const x1 = ahead || level ? from.x + from.w : from.x;
  const x2 = ahead ? to.x : to.x + to.w;
  const bend = level ? 90 : Math.max(60, Math.abs(x2 - x1) / 2);
  const c1 = x1 + (ahead || level ? bend : -bend);
  const c2 = x2 + (ahead ? -bend : bend);
  line.path = `M${r(x1)} ${r(y1)}C${r(c1)} ${r(y1)} ${r(c2)} ${r(y2)} ${r(x2)} ${r(y2)}`;
  // Labels of lines that leave or meet at one point step along their line, so that they do not lie on each other.
  const same = lines.filter((other) => other.service === line.service || other.from === line.from);
  const nth = same.indexOf(line);
  const t = same.length < 2 ? 0.5 : 0.34 + (0.32 * nth) / (same.length - 1);
  const at = (a: number, b: number, c: number, d: number): number =>
    (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t * t * c + t ** 3 * d;
  line.lx = at(x1, c1, c2, x2);
  line.ly = at(y1, y1, y2, y2);
}

const r = (n: number): number => Math.round(n * 10) / 10;

/** Each factor of ten in rate is as much in width. */
export function lineWidth(rate: number, most: number): number {
  return 1.3 + (5.2 * Math.log10(1 + rate * 10)) / Math.log10(1 + Math.max(most, 0.1) * 10);
}
