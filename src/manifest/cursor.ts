import {
  type Document as Doc,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  visit,
} from 'yaml'

/** The place in a document of a word that is being written. */
export interface CursorPlace {
  /** `entry` is the first key of a list entry that does not exist yet. */
  readonly as: 'key' | 'entry' | 'value'
  /** The offset at which the word begins. */
  readonly from: number
  /** The names that lead to the map of the key, or to the value; entries of lists have none. */
  readonly path: readonly string[]
  /** It is in a list at the path. */
  readonly isInList: boolean
  /** The other keys of the map; of a value, none. */
  readonly keys: readonly string[]
  /** Only spaces follow in its line, and the map has a line for each key: what belongs to the key may begin in the next line. */
  readonly hasRoomBelow: boolean
  /** A quote is before the word, or a colon behind it. */
  readonly isComplete: boolean
}

/** The ways to read the word that ends at the offset, the likeliest first. The rest of the text may have errors. */
export function* cursorPlaces(text: string, offset: number): Generator<CursorPlace> {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  const word = /(?:\w[\w-]*)?$/.exec(before)?.[0] ?? ''
  const from = offset - word.length
  const [head, lead, rest] = [text.slice(0, from), before.slice(0, before.length - word.length), text.slice(offset)]
  // Within a word.
  if (/^[\w-]/.test(rest)) return
  const quote = /["']$/.exec(lead)?.[0] ?? ''
  const closing = rest.startsWith(quote) ? quote : ''
  const behind = rest.slice(closing.length)
  const hasColon = /^[ \t]*:/.test(behind)
  const asKey = `${MARK}${closing}${hasColon ? '' : ': '}${behind}`
  const readings = {
    ...(/:\s+["']?$/.test(lead) ? {} : { key: head + asKey }),
    ...(/^\s*$/.test(lead) ? { entry: `${head}- ${asKey}` } : {}),
    value: head + MARK + rest,
  }
  for (const [as, reading] of Object.entries(readings)) {
    const { isFlow, ...found } = find(reading) ?? {}
    if (!('path' in found)) continue
    const hasRoomBelow = !isFlow && /^[ \t]*(?:\n|$)/.test(rest)
    yield { as: as as CursorPlace['as'], from, ...found, hasRoomBelow, isComplete: hasColon || quote !== '' }
  }
}

/** A character for private use, which nobody writes. */
const MARK = '\ue000'

type Found = Pick<CursorPlace, 'path' | 'isInList' | 'keys'> & { readonly isFlow: boolean }

function find(text: string): Found | undefined {
  let found: Found | undefined
  for (const document of parseAllDocuments(text, { prettyErrors: false, logLevel: 'error', uniqueKeys: false })) {
    visit(document as Doc, {
      Scalar(position, { value, range }, above) {
        if (value !== MARK) return undefined
        const line = text.lastIndexOf('\n', range?.[0]) + 1
        // It stands where only an entry of a list may begin.
        const isLost = document.errors.some(({ code, pos }) => code === 'BAD_INDENT' && pos[0] === line)
        found = isLost ? undefined : foundAt(position === 'key', above)
        return visit.BREAK
      },
    })
    if (found) break
  }
  return found
}

function foundAt(isKey: boolean, above: readonly (Doc | Node | Pair)[]): Found {
  const map = isKey ? above.at(-2) : undefined
  const names = above.filter((one) => isPair(one)).map(({ key }) => nameOf(key))
  return {
    path: isKey ? names.slice(0, -1) : names,
    isInList: isSeq(above.at(isKey ? -3 : -1)),
    keys: isMap(map) ? map.items.map(({ key }) => nameOf(key)).filter((name) => name !== MARK) : [],
    isFlow: isMap(map) && map.flow === true,
  }
}

const nameOf = (key: unknown): string => (isScalar(key) ? String(key.value) : '')
