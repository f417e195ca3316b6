/** The project whose things pages show, as their addresses have it. Empty: all projects. */

/** Pages that can show one project alone. */
const SCOPED = ['/', '/objects', '/log', '/log/output', '/audit', '/schedules']
/** Filters for one thing, in whatever project. */
const OF_ONE = ['object', 'root', 'line', 'id']

export const isScoped = (path: string): boolean => SCOPED.includes(path)

export const projectIn = (search: string): string => (new URLSearchParams(search).get('project') ?? '').slice(0, 255)

/** The address of the page for a project, with its other filters. A page that cannot show one alone: the overview of it. */
export function scopedHref(path: string, search: string, project: string): string {
  if (!isScoped(path)) return scopedHref('/', '', project)
  const params = new URLSearchParams(search)
  for (const name of [...OF_ONE, 'project']) params.delete(name)
  if (project) params.set('project', project)
  const query = params.toString().replaceAll('%2C', ',')
  return query ? `${path}?${query}` : path
}
