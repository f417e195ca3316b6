import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Findings that make the page hard or impossible to use for some, in a few words each. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source)
  const found = await page.evaluate<readonly Violation[]>(
    // Style sheets that are on their way would be put into the page, which its policy forbids.
    `axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)`,
  )
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)[0]}`)
}
