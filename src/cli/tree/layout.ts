import { type ClassCounts, countClasses, PHASE_CLASSES, type PhaseClass } from '../../client-model/index.ts'
import type { TreeNode, TreeView } from './model.ts'

/** One line of the tree: an object, or a line for those children of a parent that do not fit. */
export type Row =
  | { readonly type: 'object'; readonly prefix: string; readonly node: TreeNode }
  | { readonly type: 'hidden'; readonly prefix: string; readonly counts: ClassCounts; readonly total: number }

/** The number of objects of each class, the root and all below it. */
export const countAll = (view: TreeView): ClassCounts => countClasses(classesBelow(view, [view.rootId]))

/** The classes of these objects and of all below them. */
function classesBelow(view: TreeView, ids: readonly string[]): readonly PhaseClass[] {
  const found: PhaseClass[] = []
  for (const id of ids) walk(view, id, ({ phaseClass }) => found.push(phaseClass))
  return found
}

/**
 * The tree as at most `height` lines. If it does not fit, failed and moving objects come first, with their parents, and
 * each parent has a line with counts of its hidden children.
 */
export function layout(view: TreeView, height: number): readonly Row[] {
  const root = view.nodes.get(view.rootId)
  if (!root) return []
  const order: TreeNode[] = []
  walk(view, view.rootId, (node) => order.push(node))
  const shown = order.length <= height ? null : choose(view, order, height)
  const rows: Row[] = [{ type: 'object', prefix: '', node: root }]
  appendChildren(view, root, '', shown, rows)
  return rows
}

function walk(view: TreeView, id: string, visit: (node: TreeNode) => void): void {
  const stack = [id]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const node = view.nodes.get(next)
    if (!node) continue
    visit(node)
    const children = view.children.get(next)
    if (children) for (const child of [...children].reverse()) stack.push(child)
  }
}

/** Greedy by class: adds each object that still fits, with its parents and the lines for their hidden children. */
function choose(view: TreeView, order: readonly TreeNode[], height: number): ReadonlySet<string> {
  const shown = new Set<string>()
  const hidden = new Map<string, number>()
  const childCount = (id: string): number => view.children.get(id)?.size ?? 0
  let lines = 0
  const cost = (chain: readonly TreeNode[]): number => {
    const first = chain[0]
    const lastHidden = first?.parentId != null && hidden.get(first.parentId) === 1 && shown.has(first.parentId)
    return chain.reduce(
      (sum, { id }, index) => {
        const onlyChild = index < chain.length - 1 && childCount(id) === 1
        return sum + 1 + (childCount(id) > 0 && !onlyChild ? 1 : 0)
      },
      lastHidden ? -1 : 0,
    )
  }
  const show = (chain: readonly TreeNode[]): void => {
    lines += cost(chain)
    for (const { id, parentId } of chain) {
      shown.add(id)
      hidden.set(id, childCount(id))
      if (parentId !== null) hidden.set(parentId, (hidden.get(parentId) ?? 0) - 1)
    }
  }
  for (const wanted of PHASE_CLASSES) {
    for (const node of order) {
      if (shown.has(node.id) || node.phaseClass !== wanted) continue
      const chain = missingParents(view, node, shown)
      if (lines + cost(chain) <= height) show(chain)
    }
  }
  return shown
}

/** The node and its hidden parents, from the top down. */
function missingParents(view: TreeView, node: TreeNode, shown: ReadonlySet<string>): readonly TreeNode[] {
  const chain: TreeNode[] = []
  let next: TreeNode | undefined = node
  while (next && !shown.has(next.id)) {
    chain.unshift(next)
    next = next.id === view.rootId || next.parentId === null ? undefined : view.nodes.get(next.parentId)
  }
  return chain
}

function appendChildren(
  view: TreeView,
  parent: TreeNode,
  indent: string,
  shown: ReadonlySet<string> | null,
  rows: Row[],
): void {
  const children = [...(view.children.get(parent.id) ?? [])].flatMap((id) => view.nodes.get(id) ?? [])
  const visible = shown ? children.filter(({ id }) => shown.has(id)) : children
  const anyHidden = visible.length < children.length
  visible.forEach((node, index) => {
    const last = index === visible.length - 1 && !anyHidden
    rows.push({ type: 'object', prefix: `${indent}${last ? '└─ ' : '├─ '}`, node })
    appendChildren(view, node, `${indent}${last ? '   ' : '│  '}`, shown, rows)
  })
  if (!anyHidden) return
  const hidden = children.filter(({ id }) => !shown?.has(id)).map(({ id }) => id)
  const classes = classesBelow(view, hidden)
  rows.push({ type: 'hidden', prefix: `${indent}└─ `, counts: countClasses(classes), total: classes.length })
}
