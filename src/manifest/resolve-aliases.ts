import { type Alias, isAlias, isCollection, isNode, isPair, isScalar, type Node, YAMLParseError } from 'yaml'

/** Characters. More than any object may have that a cluster or the server takes. */
const MAX_UNFOLDED = 3 * 1_024 * 1_024

/**
 * Finds what each alias of a document stands for, and bounds what all of them stand for together: what is written once and
 * repeated a hundred times, or merged into a hundred maps, takes seconds and hundreds of MB to unfold. The number of aliases
 * does not matter. For a document without errors, whose nesting the parser has bounded.
 */
export function resolveAliases({ contents }: { readonly contents: unknown }): readonly YAMLParseError[] {
  /** An alias stands for the last node before it that has this name. The size of a node is known at its end. */
  const named = new Map<string, { readonly node: Node; size: number | null }>()
  const errors: YAMLParseError[] = []
  let unfolded = 0
  const refuse = ({ range }: Alias, message: string): void => {
    const start = range?.[0] ?? 0
    errors.push(new YAMLParseError([start, start + 1], 'BAD_ALIAS', message))
  }
  const sizeOf = (node: unknown): number => {
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value)
    if (isAlias(node)) return sizeOfAlias(node)
    if (!isNode(node) || !node.anchor) return 1 + ownSize(node)
    const entry = { node, size: null as number | null }
    named.set(node.anchor, entry)
    entry.size = 1 + ownSize(node)
    return entry.size
  }
  const sizeOfAlias = (alias: Alias): number => {
    const { source } = alias
    const meant = named.get(source)
    if (!meant) refuse(alias, `*${source} stands for nothing: there is no &${source} before it`)
    else if (meant.size === null) refuse(alias, `*${source} is within what it stands for.`)
    else {
      const before = unfolded
      unfolded += meant.size
      if (unfolded > MAX_UNFOLDED && before <= MAX_UNFOLDED)
        refuse(alias, `Aliases stand for more than ${MAX_UNFOLDED} characters`)
      resolveTo(alias, meant.node)
    }
    return meant?.size ?? 1
  }
  const ownSize = (node: unknown): number => {
    if (isCollection(node)) return node.items.reduce<number>((sum, item) => sum + sizeOf(item), 0)
    return isScalar(node) && typeof node.value === 'string' ? node.value.length : 1
  }
  sizeOf(contents)
  return errors
}

/** The parser looks through all named nodes for each alias, and refuses a hundred aliases of anything. */
function resolveTo(alias: Alias, node: Node): void {
  const resolve = alias.resolve.bind(alias)
  alias.resolve = (document, context) =>
    context
      ? resolve(document, { ...context, aliasResolveCache: [node], maxAliasCount: -1 })
      : (node as ReturnType<Alias['resolve']>)
}
