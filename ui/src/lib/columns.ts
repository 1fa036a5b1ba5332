import type { Column } from '../components/VirtualTable.svelte';

export const CALL_COLUMNS: Column[] = [
  { key: 'time', label: 'Start', min: 118, mono: true, title: 'Local time; hover a row for UTC' },
  { key: 'age', label: 'Age', min: 64, from: 760, right: true },
  { key: 'state', label: 'State', min: 106 },
  { key: 'method', label: 'Method', min: 88, from: 620 },
  { key: 'from', label: 'From', min: 90, grow: 1.25, mono: true },
  { key: 'to', label: 'To', min: 90, grow: 1.25, mono: true },
  { key: 'code', label: 'Result', min: 128, grow: 0.5, from: 720, title: 'The last final response to the first request' },
  { key: 'length', label: 'Length', min: 84, right: true, from: 820, title: 'First to last message' },
  { key: 'messages', label: 'Msgs', min: 56, right: true, from: 820 },
  { key: 'path', label: 'Path', min: 182, grow: 0.9, mono: true, from: 980, title: 'Where the first request went' },
  { key: 'call_id', label: 'Call-ID', min: 90, grow: 1, mono: true, from: 1180 },
  { key: 'node', label: 'Node', min: 90, grow: 0.2, from: 1500 },
];

export const MESSAGE_COLUMNS: Column[] = [
  { key: 'time', label: 'Time', min: 146, mono: true, title: 'Local time; hover a row for UTC' },
  { key: 'age', label: 'Age', min: 64, from: 900, right: true },
  { key: 'what', label: 'Message', min: 140, grow: 0.5 },
  { key: 'method', label: 'CSeq', min: 88, from: 1250, title: 'The method that a response answers' },
  { key: 'from', label: 'From', min: 90, grow: 1, mono: true, from: 620 },
  { key: 'to', label: 'To', min: 90, grow: 1, mono: true, from: 620 },
  { key: 'src', label: 'Source', min: 140, grow: 0.7, mono: true },
  { key: 'dst', label: 'Destination', min: 140, grow: 0.7, mono: true, from: 720 },
  { key: 'transport', label: 'Over', min: 50, from: 900, mono: true },
  { key: 'call_id', label: 'Call-ID', min: 120, grow: 1, mono: true, from: 980 },
  { key: 'node', label: 'Node', min: 90, grow: 0.2, from: 1500 },
];

export const ROUNDTRIP_COLUMNS: Column[] = [
  { key: 'time', label: 'Time', min: 112, mono: true, title: 'When the request began; local time, hover a row for UTC' },
  { key: 'protocol', label: 'Protocol', min: 118 },
  { key: 'operation', label: 'Operation', min: 104, grow: 0.9, mono: true },
  { key: 'resource', label: 'Resource', min: 120, grow: 1.8, mono: true, from: 716 },
  { key: 'status', label: 'Status', min: 100 },
  { key: 'duration', label: 'Duration', min: 142, right: true, title: 'First byte of the request to last of the response; each quarter of the bar is a factor of about 30' },
  { key: 'first_byte', label: 'First byte', min: 78, right: true, from: 1100, title: 'First byte of the request to first of the response' },
  { key: 'client', label: 'Client', min: 136, grow: 0.4, mono: true, from: 1000 },
  { key: 'server', label: 'Server', min: 136, grow: 0.4, mono: true, from: 860 },
  { key: 'bytes', label: 'Bytes', min: 116, right: true, from: 1200, title: 'Of the request / of the response' },
];

export const FLOW_COLUMNS: Column[] = [
  { key: 'time', label: 'Start', min: 112, mono: true, title: 'First packet; local time, hover a row for UTC' },
  { key: 'protocol', label: 'Protocol', min: 118 },
  { key: 'client', label: 'Client', min: 140, grow: 0.7, mono: true },
  { key: 'server', label: 'Server', min: 140, grow: 0.7, mono: true },
  { key: 'visibility', label: 'What it shows', min: 170, grow: 1.6, from: 620, title: 'Its roundtrips, or why there are none' },
  { key: 'health', label: 'Health', min: 190, grow: 1.1, title: 'Retransmits, gaps, resets, closed windows, errors of the decoder' },
  { key: 'rtt', label: 'RTT', min: 78, right: true, from: 760, title: 'Of the handshake: to the server and back; hover for both sides' },
  { key: 'length', label: 'Length', min: 78, right: true, from: 820 },
  { key: 'bytes', label: 'Bytes', min: 128, right: true, from: 980, title: 'From the client / from the server' },
  { key: 'ended', label: 'Ended', min: 74, from: 900 },
];

export const OPERATION_COLUMNS: Column[] = [
  { key: 'protocol', label: 'Protocol', min: 112 },
  { key: 'operation', label: 'Operation', min: 130, grow: 1, mono: true },
  { key: 'n', label: 'Count', min: 84, right: true },
  { key: 'rate', label: 'Rate', min: 84, right: true, title: 'Per second, over the range' },
  { key: 'share', label: '', min: 110, grow: 0.5, from: 820 },
  { key: 'errors', label: 'Errors', min: 78, right: true },
  { key: 'unanswered', label: 'Unanswered', min: 96, right: true, from: 620 },
  { key: 'p50', label: 'p50', min: 84, right: true },
  { key: 'p95', label: 'p95', min: 84, right: true, from: 700 },
  { key: 'p99', label: 'p99', min: 150, right: true, from: 460 },
];
