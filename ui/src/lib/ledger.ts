const DOORS: Record<string, string> = {
  hep_udp: 'HEP over UDP',
  hep_tcp: 'HEP over TCP',
  hep_tls: 'HEP over TLS',
  hep_http: 'HEP over HTTP',
  hep_ws: 'HEP over WebSocket',
  dropsonde: 'dropsonde',
  kernel_drops: 'Lost in the kernel',
  refused: 'Connections refused',
  unread: 'Unread at the end',
};

/** A door that the page does not know yet keeps its own name. */
export function doorName(name: string): string {
  return DOORS[name] ?? name.replaceAll('_', ' ');
}

/** Share of the whole in percent; 0 for nothing of nothing. */
export function share(part: number, whole: number): number {
  return whole > 0 ? Math.min(100, (part / whole) * 100) : 0;
}
