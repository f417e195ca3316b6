/** Siblings that have no room one by one are groups: by a label, by the prefix of their names, or by ranges in their order. */

export interface SiblingGroup {
  /** Unique in the tree, and the same for the same siblings. */
  readonly id: string
  readonly name: string
  readonly members: readonly string[]
}
/** One sibling, or several as a group. */
export type Unit = string | SiblingGroup

export interface GroupOptions {
  /** The most siblings that are no groups. */
  readonly most: number
  /** The most units. */
  readonly units: number
  readonly nameOf: (id: string) => string
  /** The value of the label that groups are made by; undefined: the object lacks it. Left out: groups are made by name. */
  readonly labelOf?: ((id: string) => string | undefined) | undefined
}

/** Fewer objects with a common prefix are no group. */
const FEWEST = 3
/** The smallest range. */
const RANGE = 12
/** Words of a name that are compared. */
const WORDS = 8

/** `boxId`: the object or group that holds the siblings, which are in the order of the spec; so are the units. */
export function unitsOf(boxId: string, siblings: readonly string[], options: GroupOptions): readonly Unit[] {
  const { most, labelOf } = options
  if (siblings.length <= most) return siblings
  const box = { id: boxId, siblings, ...options }
  const byLabel =
    labelOf &&
    groupsOf(
      box,
      (id) => labelOf(id) ?? '',
      (value) => value || 'none',
    )
  return byLabel ?? prefixesOf(box) ?? rangesOf(box)
}
interface Box extends GroupOptions {
  readonly id: string
  readonly siblings: readonly string[]
}

/** An address may decode its escapes twice, so a key has its own for all that is no letter, digit or dash. */
const idOf = (boxId: string, key: string): string =>
  `${boxId}~${key.replaceAll(/[^\p{L}\p{N}-]/gu, (one) => `.${one.codePointAt(0)?.toString(16)}.`)}`

/** In the order of their first members. Undefined: they are no groups, or too many. */
function groupsOf(
  { id: boxId, siblings, units: most }: Box,
  keyOf: (id: string) => string,
  nameOf: (key: string) => string,
): readonly Unit[] | undefined {
  const groups = new Map<string, string[]>()
  for (const id of siblings) {
    const key = keyOf(id)
    const members = groups.get(key)
    if (members) members.push(id)
    else if (groups.size === most) return undefined
    else groups.set(key, [id])
  }
  if (groups.size < 2) return undefined
  const order = new Map(siblings.map((id, i) => [id, i]))
  const first = (unit: Unit): number => order.get((typeof unit === 'string' ? unit : unit.members[0]) ?? '') ?? 0
  const units = [...groups].flatMap(([key, members]): readonly Unit[] =>
    members.length < FEWEST ? members : [{ id: idOf(boxId, key), name: nameOf(key), members }],
  )
  return units.length > most ? undefined : units.toSorted((a, b) => first(a) - first(b))
}

/** By the shortest prefix in whole words that tells them apart; undefined: there is none. */
function prefixesOf(box: Box): readonly Unit[] | undefined {
  const words = new Map(box.siblings.map((id) => [id, wordsOf(box.nameOf(id))]))
  for (let count = 1; count <= WORDS; count += 1) {
    const prefixOf = (id: string): string => words.get(id)?.slice(0, count).join('') ?? ''
    const units = groupsOf(box, prefixOf, (prefix) => `${prefix}…`)
    if (units && units.length < box.siblings.length) return units
  }
  return undefined
}
const wordsOf = (name: string): readonly string[] => name.match(/[\p{L}\p{M}]+|\p{N}+|[^\p{L}\p{M}\p{N}]+/gu) ?? []

function rangesOf({ id, siblings, units, nameOf }: Box): readonly Unit[] {
  const { length } = siblings
  const size = Math.max(RANGE, Math.ceil(Math.sqrt(length)), Math.ceil(length / units))
  return Array.from({ length: Math.ceil(length / size) }, (_, i): SiblingGroup => {
    const members = siblings.slice(i * size, (i + 1) * size)
    const [first = '', last = ''] = [members[0], members.at(-1)].map((one) => (one === undefined ? '' : nameOf(one)))
    return { id: `${id}~~${i + 1}`, name: `${first} – ${last}`, members }
  })
}
