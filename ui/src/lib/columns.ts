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
