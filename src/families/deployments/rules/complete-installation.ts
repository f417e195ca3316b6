import { objectFailure } from '../../../core/errors.ts'
import { hasExpressions } from '../../../core/expression.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import { installation } from './details.ts'
import { finish } from './finish.ts'
import { exportsByItem, listsOf } from './for-each.ts'
import { mentionedIn } from './mentioned.ts'
import type { Each, InstallationSpec } from './spec.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    itemExports: {
      /** `isFanned`: some of them are of a list. */
      readonly args: { readonly executionId: string; readonly isFanned: boolean }
      readonly answer: readonly ItemExports[]
    }
  }
  interface FamilyEffects {
    succeeded: Exports
  }
}

export type Exports = Readonly<Record<string, unknown>>
export interface ItemExports {
  readonly name: string
  readonly each: Each | null
  readonly exports: Exports
}

/** COMPLETING: builds the exports, unless the spec was changed meanwhile. */
export function complete(node: Node, slice: Slice): void {
  const { generation, observedGeneration } = node.row
  if (generation !== observedGeneration) {
    const message = 'Its spec was changed during the job: the next one applies it.'
    return finish(node, slice, { to: 'FAILED', error: objectFailure(slice, 'SPEC_CHANGED', message) })
  }
  const spec = slice.spec(node) as InstallationSpec | undefined
  if (!spec) return
  const template = Object.fromEntries(spec.exports.map(({ name, value }) => [name, value]))
  const built = hasExpressions(template) ? build(node, template, slice) : ({ ok: true, value: template } as const)
  if (!built) return
  if (!built.ok) return finish(node, slice, { to: 'FAILED', error: objectFailure(slice, 'EXPRESSION', built.message) })
  const exports = built.value as Exports
  slice.setDetails(node, { exports })
  finish(node, slice, { to: 'SUCCEEDED' })
  if (!slice.parent(node)) slice.effect('succeeded', exports)
}

function build(node: Node, template: Exports, slice: Slice) {
  const children = slice.children(node)
  if (!children) return undefined
  const execution = children.find((child) => child.row.kind === 'EXECUTION')
  const fanned = Object.keys(listsOf((slice.spec(node) as InstallationSpec).deployItems))
  const itemExports = execution
    ? slice.ask('itemExports', { executionId: execution.row.id, isFanned: fanned.length > 0 })
    : []
  if (!itemExports) return undefined
  // Loads only the referenced items, since an execution may have ten thousand.
  const isMentioned = mentionedIn(template)
  const deployItems = exportsByItem(
    itemExports.filter(({ name, each }) => isMentioned(each?.of ?? name)),
    fanned,
  )
  const installations = Object.fromEntries(
    children
      .filter((child) => child.row.kind === 'INSTALLATION' && isMentioned(child.row.name))
      .map((child) => [child.row.name, { exports: installation(child).exports ?? {} }]),
  )
  return slice.evaluate(node, template, { imports: installation(node).imports ?? {}, deployItems, installations })
}
