import { queryOf } from './url-filter.ts'

/**
 * The project whose things pages show. Each address names it, so that a link, a new tab and the way back show the same one; an address
 * that names none means the last one that was chosen. Empty: all projects.
 */

/** Pages that can show one project alone. */
const SCOPED = ['/', '/objects', '/log', '/log/output', '/audit', '/schedules', '/hooks', '/rules']
/** Filters for one thing, in whatever project. */
const OF_ONE = ['object', 'root', 'line', 'id']
/** All projects, in an address that would mean another one without a name. No project has this name. */
const ALL = '*'

export const isScoped = (path: string): boolean => SCOPED.includes(path)

/** The project of an address. @param last the project of one that names none */
export function projectIn(search: string, last = ''): string {
  const named = new URLSearchParams(search).get('project')
  return named === null ? last : named === ALL ? '' : named.slice(0, 255)
}

/** The address of the page for a project, with its other filters. A page that cannot show one alone: the overview of it. */
export function scopedHref(path: string, search: string, project: string): string {
  if (!isScoped(path)) return scopedHref('/', '', project)
  const params = new URLSearchParams(search)
  for (const name of [...OF_ONE, 'project']) params.delete(name)
  if (project) params.set('project', project)
  return join(path, params)
}

/**
 * An address within the dashboard, which names the project that is shown if it names none itself.
 * @param isAllNamed an address without a name would not mean all projects
 */
export function withProject(href: string, shown: string, isAllNamed: boolean): string {
  const [, path = '', search = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(href) ?? []
  const params = new URLSearchParams(search)
  const wanted = projectIn(search, shown) || (isAllNamed ? ALL : null)
  if (wanted === params.get('project')) return href
  if (wanted === null) params.delete('project')
  else params.set('project', wanted)
  return join(path, params) + fragment
}

/** An address that names all projects, unless it names one: for links to just what was shown. */
export const asSaved = (href: string): string => withProject(href, '', true)

/** The address as its page reads it: a name, or none for all projects. A page of one thing shows it, whatever project was chosen. */
export function shownSearch(search: string, last: string): string {
  const params = new URLSearchParams(search)
  const project = isOfOne(params) ? '' : projectIn(search, last)
  if (project === (params.get('project') ?? '')) return search
  params.delete('project')
  if (project) params.set('project', project)
  return join('', params)
}

/** The search that a page writes into its address: a project that it has taken away stays out. */
export function rewritten(before: string, after: string): string {
  const params = new URLSearchParams(before)
  return isOfOne(params) || projectIn(before) === '' ? after : asSaved(after)
}

const isOfOne = (params: URLSearchParams): boolean => OF_ONE.some((name) => params.has(name))

function join(path: string, params: URLSearchParams): string {
  const query = queryOf(params)
  return query ? `${path}?${query}` : path
}
