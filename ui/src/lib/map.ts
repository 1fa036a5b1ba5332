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
/** Between the parts of a folded column. */
const FOLD = 46;
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
  const ways = waysOf(lines, layers);
  const size = place(boxes, ways, lines, layers);
  const taken: Rect[] = [...boxes.values()].map((box) => ({ ...box }));
  for (const line of lines) route(line, boxes, ways.get(wayId(line)) ?? [], taken);
  return { boxes: [...boxes.values()], lines, ...size };
}

interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** A place between the boxes of a column that a line needs to get past it. */
interface Stop extends Rect {
  id: string;
  layer: number;
  from: string;
  to: string;
}

const wayId = (line: Line): string => `${line.from}>${line.to}`;

/** The stops of lines that pass a column, by the two boxes they join. */
function waysOf(lines: Line[], layers: Map<string, number>): Map<string, Stop[]> {
  const ways = new Map<string, Stop[]>();
  for (const line of lines) {
    const [first, last] = [layers.get(line.from)!, layers.get(line.to)!];
    if (last - first < 2 || ways.has(wayId(line))) continue;
    const stops = Array.from({ length: last - first - 1 }, (_, nth) => first + 1 + nth);
    ways.set(
      wayId(line),
      stops.map((layer) => ({ id: `~${wayId(line)}~${layer}`, layer, from: line.from, to: line.to, x: 0, y: 0, w: 10, h: 6 })),
    );
  }
  return ways;
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

/**
 * Longest path from those that nobody calls. An edge back towards them, or one that would close a circle, does not
 * count: it is drawn from right to left.
 */
function layersOf(boxes: Map<string, Box>, lines: Line[]): Map<string, number> {
  const out = new Map<string, Set<string>>();
  const called = new Set<string>();
  for (const line of lines) {
    out.set(line.from, (out.get(line.from) ?? new Set()).add(line.to));
    called.add(line.to);
  }
  const starts = [...boxes.values()].filter((box) => !called.has(box.id));
  const depth = new Map<string, number>();
  // Who asks on the host itself says nothing about how far back that host stands: those come second.
  for (const local of [false, true]) depths(depth, starts.filter((box) => (box.kind === 'local') === local).map((box) => box.id), out);
  const layer = new Map<string, number>();
  const open = new Set<string>();
  const order: string[] = [];
  const seen = new Set<string>();
  const forward = new Map<string, string[]>();
  const visit = (id: string): void => {
    seen.add(id);
    open.add(id);
    for (const next of [...(out.get(id) ?? [])].sort(byText)) {
      if (open.has(next) || depthOf(depth, next) < depthOf(depth, id)) continue;
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

/** Fewest steps from a start. What no start leads to is part of a circle, and as far as anything. */
function depths(depth: Map<string, number>, starts: string[], out: Map<string, Set<string>>): void {
  for (const id of starts) depth.set(id, 0);
  let reached = starts;
  for (let step = 1; reached.length > 0; step++) {
    const next = reached.flatMap((id) => [...(out.get(id) ?? [])]).filter((id) => !depth.has(id));
    for (const id of next) depth.set(id, step);
    reached = [...new Set(next)];
  }
}

const depthOf = (depth: Map<string, number>, id: string): number => depth.get(id) ?? Infinity;

type Place = Box | Stop;
/** Lines may pass close to each other, boxes may not. */
const gap = (at: Place): number => (isBox(at) ? GAP : 4);
const extent = (column: Place[]): number => column.reduce((sum, at) => sum + at.h + gap(at), -GAP);
const isBox = (place: Place): place is Box => 'services' in place;

function place(
  boxes: Map<string, Box>,
  ways: Map<string, Stop[]>,
  lines: Line[],
  layers: Map<string, number>,
): { width: number; height: number } {
  const columns: Place[][] = [];
  for (const box of boxes.values()) (columns[layers.get(box.id)!] ??= []).push(box);
  for (const stop of [...ways.values()].flat()) (columns[stop.layer] ??= []).push(stop);
  const filled = columns.filter((column) => column?.length);
  for (const column of filled) column.sort((a, b) => byText(a.id, b.id));
  stack(filled);
  const links = linksOf(boxes, ways, lines);
  // Each box moves towards the middle of those it is tied to; few rounds settle it.
  for (let round = 0; round < 8; round++) {
    const order = round % 2 === 0 ? filled : filled.toReversed();
    for (const column of order) {
      const wish = new Map(column.map((at) => [at.id, middle(at, links.get(at.id) ?? [])]));
      column.sort((a, b) => wish.get(a.id)! - wish.get(b.id)! || byText(a.id, b.id));
      stack(filled);
    }
  }
  return spread(filled);
}

/** For each place, where its neighbours want it. */
function linksOf(boxes: Map<string, Box>, ways: Map<string, Stop[]>, lines: Line[]): Map<string, (() => number)[]> {
  const links = new Map<string, (() => number)[]>();
  const add = (id: string, y: () => number): void => void links.set(id, [...(links.get(id) ?? []), y]);
  for (const line of lines) {
    const to = boxes.get(line.to)!;
    const chain: Place[] = [boxes.get(line.from)!, ...(ways.get(wayId(line)) ?? []), to];
    for (let i = 1; i < chain.length; i++) {
      const [a, b] = [chain[i - 1]!, chain[i]!];
      if (a === b) continue;
      add(a.id, () => (isBox(b) ? serviceY(b, line.service) : b.y + b.h / 2));
      add(b.id, () => a.y + a.h / 2);
    }
  }
  return links;
}

function middle(at: Place, near: (() => number)[]): number {
  return near.length ? near.reduce((sum, y) => sum + y(), 0) / near.length : at.y + at.h / 2;
}

function stack(columns: Place[][]): void {
  for (const column of columns) {
    const height = extent(column);
    let y = -height / 2;
    for (const at of column) {
      at.y = y;
      y += at.h + gap(at);
    }
  }
}

/** Columns get their place from left to right; a tall one is folded. */
function spread(columns: Place[][]): { width: number; height: number } {
  let x = MARGIN;
  let height = 0;
  const parts: Place[][] = [];
  for (const column of columns) {
    const tall = extent(column);
    const each = tall / Math.ceil(tall / TALL);
    const folded: Place[][] = [];
    let [sum, part] = [0, [] as Place[]];
    for (const at of column) {
      part.push(at);
      sum += at.h + gap(at);
      if (sum >= each) {
        folded.push(part);
        [sum, part] = [0, []];
      }
    }
    if (part.length) folded.push(part);
    for (const fold of folded) {
      const width = Math.max(...fold.map((at) => at.w));
      for (const at of fold) {
        at.x = x;
        if (!isBox(at)) at.w = width;
      }
      x += width + FOLD;
      height = Math.max(height, extent(fold));
      parts.push(fold);
    }
    x += BETWEEN - FOLD;
  }
  stack(parts);
  for (const at of parts.flat()) {
    at.y += height / 2 + MARGIN;
    if (isBox(at)) for (const service of at.services) service.y = serviceY(at, service.id);
  }
  return { width: Math.max(0, x - BETWEEN + MARGIN), height: height + 2 * MARGIN };
}

function serviceY(box: Box, id: string): number {
  const nth = box.services.findIndex((s) => s.id === id);
  return box.slim || nth < 0 ? box.y + box.h / 2 : box.y + HEAD + nth * ROW + ROW / 2;
}

type Point = [number, number];
/** Start, two handles, end. */
type Curve = [Point, Point, Point, Point];

function route(line: Line, boxes: Map<string, Box>, stops: Stop[], taken: Rect[]): void {
  const [from, to] = [boxes.get(line.from)!, boxes.get(line.to)!];
  const y1 = from.y + from.h / 2;
  const y2 = serviceY(to, line.service);
  const curves: Curve[] = [];
  if (to.x > from.x) {
    let [x, y] = [from.x + from.w, y1];
    for (const stop of stops) {
      const level = stop.y + stop.h / 2;
      curves.push(ahead([x, y], [stop.x, level]), ahead([stop.x, level], [stop.x + stop.w, level]));
      [x, y] = [stop.x + stop.w, level];
    }
    curves.push(ahead([x, y], [to.x, y2]));
  } else if (to.x === from.x) {
    const x = Math.max(from.x + from.w, to.x + to.w);
    curves.push([[from.x + from.w, y1], [x + 80, y1], [x + 80, y2], [to.x + to.w, y2]]);
  } else {
    const [x1, x2] = [from.x, to.x + to.w];
    const bend = Math.max(60, Math.abs(x1 - x2) / 2);
    curves.push([[x1, y1], [x1 - bend, y1], [x2 + bend, y2], [x2, y2]]);
  }
  const first = curves[0]![0];
  line.path = `M${r(first[0])} ${r(first[1])}${curves.map(([, a, b, c]) => `C${[a, b, c].map(([x, y]) => `${r(x)} ${r(y)}`).join(' ')}`).join('')}`;
  const spot = freeSpot(curves, taken);
  taken.push(spot);
  [line.lx, line.ly] = [spot.x + spot.w / 2, spot.y + spot.h / 2];
}

function ahead(a: Point, b: Point): Curve {
  const bend = (b[0] - a[0]) / 2;
  return [a, [a[0] + bend, a[1]], [b[0] - bend, b[1]], b];
}

const LABEL = { w: 58, h: 19 };
const TRIED = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78];

/** Where a label lies on its line and on nothing else; in the middle if there is no such place. */
function freeSpot(curves: Curve[], taken: Rect[]): Rect {
  const spots = [curves.at(-1)!, curves[0]!].flatMap((curve) => TRIED.map((t) => around(at(curve, t))));
  const clear = (spot: Rect): boolean =>
    !taken.some((o) => spot.x < o.x + o.w && o.x < spot.x + spot.w && spot.y < o.y + o.h && o.y < spot.y + spot.h);
  return spots.find(clear) ?? spots[0]!;
}

const around = ([x, y]: Point): Rect => ({ x: x - LABEL.w / 2, y: y - LABEL.h / 2, ...LABEL });

function at([a, b, c, d]: Curve, t: number): Point {
  const mix = (n: 0 | 1): number =>
    (1 - t) ** 3 * a[n] + 3 * (1 - t) ** 2 * t * b[n] + 3 * (1 - t) * t * t * c[n] + t ** 3 * d[n];
  return [mix(0), mix(1)];
}

const r = (n: number): number => Math.round(n * 10) / 10;

/** Each factor of ten in rate is as much in width. */
export function lineWidth(rate: number, most: number): number {
  return 1.3 + (5.2 * Math.log10(1 + rate * 10)) / Math.log10(1 + Math.max(most, 0.1) * 10);
}
