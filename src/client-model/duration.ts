/** 950ms, 4.2s, 3m 05s, 2h 04m, 3d 04h. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`
  const two = (value: number): string => String(value).padStart(2, '0')
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`
  return `${Math.floor(minutes / 1440)}d ${two(Math.floor(minutes / 60) % 24)}h`
}
