import { type KnownMachine, knownMachine, type Verb, verbsOf } from './known.ts'
import type { ListedRow } from './object.ts'
import { hasPair, type Pair, pairOf } from './pairs.ts'

/** A search for objects: by id, by label, by path, or by a part of the name. */
export type Sought =
  | { readonly by: 'id'; readonly id: string }
  | { readonly by: 'label'; readonly label: Pair }
  /** In small letters. The object's name has the last of the names. */
  | { readonly by: 'path'; readonly path: string; readonly names: readonly [string, ...string[]] }
  | { readonly by: 'name'; readonly name: string }

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export function soughtIn(text: string): Sought | null {
  const wanted = text.trim()
  const label = pairOf(wanted)
  const [first, ...more] = wanted.split('/').filter(Boolean)
  if (ID.test(wanted)) return { by: 'id', id: wanted.toLowerCase() }
  if (label) return { by: 'label', label }
  if (first === undefined) return null
  if (!wanted.includes('/')) return { by: 'name', name: wanted }
  return { by: 'path', path: [first, ...more].join('/').toLowerCase(), names: [first, ...more] }
}

/** Its path, with or without the project, has the text. */
export const isAt = ({ project, path }: ListedRow, text: string): boolean =>
  `${project.name}/${path}`.toLowerCase().includes(text)

/** True if what was found for another text is among what this one looks for. */
export function fits(row: ListedRow, sought: Sought): boolean {
  switch (sought.by) {
    case 'id':
      return row.id === sought.id
    case 'label':
      return hasPair(row.labels, sought.label)
    case 'path':
      return isAt(row, sought.path)
    case 'name':
      return row.name.toLowerCase().includes(sought.name.toLowerCase())
  }
}

/** A verb, and the text after it: `cancel shop`. Null: the text does not begin with one. */
export function verbIn(
  machines: readonly KnownMachine[],
  text: string,
): { readonly verb: string; readonly rest: string } | null {
  const [, first = '', rest = ''] = /^\s*(\S+)\s+(\S.*)$/.exec(text) ?? []
  const verb = first.toLowerCase()
  const isVerb = machines.some(({ verbs }) => verbs.some(({ name }) => name.toLowerCase() === verb))
  return isVerb ? { verb, rest: rest.trim() } : null
}

/** The verb of the object's kind, unless its place or its phase is against it; the server judges rights and the rest. */
export const verbFor = ({ kind, phase, parent, finished }: ListedRow, verb: string): Verb | undefined =>
  verbsOf(kind).find(
    (one) =>
      one.name.toLowerCase() === verb &&
      !(one.rootsOnly && parent !== null) &&
      (one.finished === null || one.finished === finished) &&
      (one.machine !== knownMachine(kind)?.name || one.phases.includes(phase)),
  )
