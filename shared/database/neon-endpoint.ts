const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether a host of a connection string is this machine, where the local SQL endpoint speaks plain http. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host);
}

/**
 * Where the driver sends a query for this host: to the local endpoint on loopback, else by the driver's own rule
 * (first label replaced by `api`, https, port dropped).
 *
 * The driver's `neonConfig` is shared by the whole process, so what is set there must be the same for everyone: this
 * depends on its arguments alone, and two databases in one process cannot disturb each other.
 *
 * @example neonEndpoint('127.0.0.1', '4444') // 'http://127.0.0.1:4444/sql'
 * @example neonEndpoint('ep-x.eu-central-1.aws.neon.tech', '') // 'https://api.eu-central-1.aws.neon.tech/sql'
 */
export function neonEndpoint(host: string, port: string | number): string {
  if (isLoopback(host)) return `http://${host}:${port}/sql`;
  return `https://${host.replace(/^[^.]+\./, 'api.')}/sql`;
}
