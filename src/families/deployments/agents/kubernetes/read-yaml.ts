import { LineCounter, parseAllDocuments, type Tags } from 'yaml'
import { repeatedKeys } from '../../../../manifest/unique-keys.ts'

/** Says where, and quotes nothing: the text may be a secret. */
export class YamlProblem extends Error {
  override name = 'YamlProblem'
}

const MAX_ALIASES = 100
/** Times of day are no numbers, and dates no dates, for the tools of Kubernetes. */
const OTHERS = ['binary', 'omap', 'pairs', 'set', 'intTime', 'floatTime', 'timestamp'] as const
const isTime = (tag: Tags[number]): boolean => typeof tag === 'object' && 'format' in tag && tag.format === 'TIME'

/** As the tools of Kubernetes read it: `0644` is octal, `yes` is true, and `<<` merges. */
const LIKE_KUBERNETES = {
  version: '1.1',
  merge: true,
  uniqueKeys: false,
  prettyErrors: false,
  customTags: (tags: Tags): Tags =>
    tags.filter(
      (tag) => !isTime(tag) && !OTHERS.some((name) => (typeof tag === 'string' ? tag : tag.tag).endsWith(name)),
    ),
} as const

/** The documents of a text, without empty ones. @throws YamlProblem */
export function readYaml(text: string): readonly object[] {
  const lineCounter = new LineCounter()
  const documents = parseAllDocuments(text, { ...LIKE_KUBERNETES, lineCounter })
  return ('empty' in documents ? [] : documents).flatMap((document) => {
    const [error] = [...document.errors, ...repeatedKeys(document)]
    if (error) throw new YamlProblem(`${error.code} at ${where(lineCounter.linePos(error.pos[0]))}`)
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return value === null ? [] : [value as object]
  })
}

const where = ({ line, col }: { readonly line: number; readonly col: number }): string => `line ${line}, column ${col}`
