/** A page of the documentation that the server has. */
interface DocsPage {
  readonly title: string
  /** Below `/docs/`. */
  readonly path: string
}

let pages: Promise<readonly DocsPage[]> | undefined

/** Their titles, read once; none where the server has no documentation. */
export function docsPages(): Promise<readonly DocsPage[]> {
  pages ??= read().catch(() => {
    pages = undefined
    return []
  })
  return pages
}

async function read(): Promise<readonly DocsPage[]> {
  const response = await fetch('/docs/pages.json')
  return response.ok ? ((await response.json()) as readonly DocsPage[]) : []
}
