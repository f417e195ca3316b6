/** Addresses of the dashboard, with their filters, that a person has named. */
export interface SavedView {
  readonly name: string
  /** Path and search. Each is saved once. */
  readonly href: string
}
export const MAX_VIEWS = 100
export const MAX_NAME = 80
const MAX_HREF = 4_096

/** Entries that are not views are left out: other versions of the dashboard write here, too. */
export function readViews(text: string | null): readonly SavedView[] {
  let read: unknown
  try {
    read = JSON.parse(text ?? '[]')
  } catch {
    return []
  }
  return Array.isArray(read) ? read.filter(isView).slice(0, MAX_VIEWS) : []
}

function isView(value: unknown): value is SavedView {
  const { name, href } = (value ?? {}) as Partial<Record<keyof SavedView, unknown>>
  return isName(name) && typeof href === 'string' && href.length <= MAX_HREF && isOwn(href)
}
const isName = (name: unknown): boolean => typeof name === 'string' && name.trim() !== '' && name.length <= MAX_NAME
/** It leads to a page of the dashboard, not to another site or a program. */
const isOwn = (href: string): boolean => /^\/(?![/\\])/.test(href)

/** With the view, or with its new name; in the order of names. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = views.filter(({ href }) => href !== view.href)
  if (!isView(view) || others.length >= MAX_VIEWS) return views
  return [...others, view].toSorted((a, b) => a.name.localeCompare(b.name))
}

export const withoutView = (views: readonly SavedView[], href: string): readonly SavedView[] =>
  views.filter((view) => view.href !== href)
