import type { CelInput } from '@bufbuild/cel'

type Path = readonly string[]
type Scope = Readonly<Record<string, CelInput>>

/** Names of exports in a message, and characters of each. */
const SHOWN = { names: 10, characters: 64 } as const

/**
 * Says where the field is missing. Keys of exports are names, which plans and pages show as well; other keys may be values,
 * so that a message has them only if the expression has.
 */
export function missingReference(field: string, references: readonly Path[], scope: Scope): string {
  for (const path of references) {
    const { found, rest } = follow(path, scope)
    if (rest[0] !== field) continue
    const [root, owner, what] = path
    if (root === 'imports' && owner === field && rest.length === path.length - 1)
      return `the import ${field} has no value`
    return what === 'exports' && rest.length === path.length - 3
      ? `${owner} has exported ${insteadOf(field, found)}`
      : `there is no field ${field} in ${path.slice(0, -rest.length).join('.')}`
  }
  return `there is no field ${field}`
}

/** As far as the path leads: the value there, and the rest of the path. */
function follow([root = '', ...rest]: Path, scope: Scope): { readonly found: unknown; readonly rest: Path } {
  let found: unknown = scope[root]
  while (rest.length > 0 && found instanceof Map && found.has(rest[0])) found = found.get(rest.shift())
  return { found, rest }
}

function insteadOf(field: string, exports: unknown): string {
  const names = exports instanceof Map ? [...exports.keys()].map(String) : []
  if (names.length === 0) return 'nothing'
  const shown = names.slice(0, SHOWN.names).map((name) => name.slice(0, SHOWN.characters))
  const others = names.length - shown.length
  return `no ${field} (it exports: ${shown.join(', ')}${others > 0 ? ` and ${others} more` : ''})`
}
