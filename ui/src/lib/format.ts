const grouped = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

/** `1 234 567` with thin spaces: no reader mistakes them for a decimal point. */
export function count(n: number | null | undefined): string {
  if (n === null || n === undefined || !Number.isFinite(n)) return '–';
  return grouped.format(n).replaceAll(',', '\u202f');
}

/** A rate of any size in at most four characters and a unit prefix. */
export function si(n: number): string {
  if (!Number.isFinite(n)) return '–';
  const units = ['', 'k', 'M', 'G', 'T'];
  let value = n;
  let unit = 0;
  while (Math.abs(value) >= 9999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 ? (Number.isInteger(value) ? 0 : 1) : Math.abs(value) < 99.95 ? 1 : 0;
  return `${count2(value, digits)}${units[unit] ? `\u202f${units[unit]}` : ''}`;
}

function count2(n: number, digits: number): string {
  return digits === 0 ? count(Math.round(n)) : n.toFixed(digits);
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = n / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** `user@host`, whichever half is there. */
export function party(user: string | null | undefined, host: string | null | undefined): string {
  if (user && host) return `${user}@${host}`;
  return user || host || '–';
}

/** IPv6 needs brackets before a port can follow. */
export function endpoint(ip: string, port: number | null | undefined): string {
  if (!port) return ip;
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}
