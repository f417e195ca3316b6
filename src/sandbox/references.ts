/** The roots that the expressions of a spec may speak of. */
const ROOTS = new Set(['imports', 'deployItems', 'installations'])
/** Roots whose members imply a dependency, so the member must be known before the run. */
const NAMED = new Set(['deployItems', 'installations'])

/** What is wrong with the references of an expression in a spec, or null. */
export function referenceProblem(references: readonly (readonly string[])[]): string | null {
  for (const [root = '', name] of references) {
    if (!ROOTS.has(root)) return `${root} is not known: an expression may speak of ${[...ROOTS].join(', ')}`
    if (NAMED.has(root) && name === undefined) {
      return `${root} must be followed by a constant name, as in ${root}.name or ${root}["name"], because it implies a dependency`
    }
  }
  return null
}
