import type { Outcome } from '../../client-model/index.ts'
import { diffJson, type JsonDiff } from '../../core/json-diff.ts'
import { describeDiff } from '../objects/describe-diff.ts'
import type { RecordName } from '../objects/record-commands.ts'
import type { Session } from '../session.ts'
import { EXIT } from '../terminal/exit.ts'
import { type Action, type Appliable, type Applied, type Named, type Placed, untilWon } from './appliable.ts'
import { labelsBy, withoutCommit } from './commit-label.ts'

/** Differences that one command shows of an object. */
const MAX_DIFFERENCES = 200

export interface Written {
  /** More about it, e.g. `now ACTIVE`. */
  readonly said: string | null
  /** False: it was already as the document says. */
  readonly isChanged: boolean
  /** For programs. */
  readonly fields: object
}

/** A kind whose objects are read and written whole, by a name in a project. */
interface RecordKind<Document extends Named, Ready extends Named, Found>
  extends Pick<
    Appliable<Document, Ready, Found>,
    'kind' | 'order' | 'objectKind' | 'schema' | 'complete' | 'needs' | 'manifest' | 'list' | 'read' | 'omitted'
  > {
  /** e.g. `hook`. */
  readonly noun: string
  find(session: Session, wanted: RecordName): Promise<Found | null>
  /** The document that `manifest` gives once this one is applied. */
  applied(document: Ready & { readonly project: string }, before: Found | null): object
  write(session: Session, found: Found | null, document: Ready & RecordName): Promise<Outcome<Written>>
  /** A part that nobody can read, and that is written again. */
  secretOf?(document: Ready): string | null
}

/** The parts at the top of a document that differ, once each. */
const partsOf = ({ differences }: JsonDiff): readonly string[] => [
  ...new Set(differences.map(({ path }) => path[0] ?? '')),
]

interface Labelled {
  readonly labels?: Readonly<Record<string, string>>
}

export function recordKind<Document extends Named, Ready extends Named, Found>(
  of: RecordKind<Document, Ready, Found>,
): Appliable<Document, Ready, Found> {
  const { noun, find, applied, write, secretOf, ...kind } = of
  const { manifest } = kind
  const label = ({ project, name }: RecordName): string => `${noun} ${project}/${name}`
  const compare = (
    found: Found | null,
    document: Ready & RecordName,
    seen: (document: object) => object = (whole) => whole,
  ): JsonDiff => diffJson(found ? seen(manifest(found)) : {}, seen(applied(document, found)), MAX_DIFFERENCES)
  const by = (commit: string, found: Found | null, document: Ready & RecordName): Ready & RecordName => {
    if (kind.objectKind === undefined) return document
    const { labels = {} }: Labelled = found ? manifest(found) : {}
    return { ...document, labels: labelsBy(commit, (document as Labelled).labels, labels) }
  }
  const inPlace = ({ document, project, name }: Placed<Ready>): Ready & RecordName => ({ ...document, project, name })
  return {
    ...kind,
    ...(kind.objectKind === undefined && { find }),
    label,
    async apply(session, placed, { ifDifferent }) {
      const document = inPlace(placed)
      const isCompared = ifDifferent && !(ifDifferent.secrets && (secretOf?.(document) ?? null) !== null)
      const { project, name } = placed
      return await untilWon(
        () => find(session, { project, name }),
        async (found): Promise<Outcome<Applied>> => {
          const parts = found ? partsOf(compare(found, document, ifDifferent && withoutCommit)) : []
          if (found && isCompared && parts.length === 0) {
            const written = { ...nameOf(placed), action: 'unchanged', changed: [] }
            return { ok: true, value: { action: 'unchanged', line: `${label(placed)} unchanged`, written } }
          }
          const wanted = ifDifferent ? by(ifDifferent.commit, found, document) : document
          const outcome = await write(session, found, wanted)
          if (!outcome.ok) return outcome
          const { said, isChanged, fields } = outcome.value
          const action: Action = found ? (isChanged ? 'updated' : 'unchanged') : 'created'
          // An edit of what cannot be compared, or by somebody with other rights.
          const differing = parts.length > 0 ? parts : [secretOf?.(document) ?? 'rights']
          const changed = action === 'updated' ? differing : []
          const what = changed.length > 0 ? ` (${changed.join(', ')})` : ''
          const line = `${label(placed)} ${action}${what}${said === null ? '' : `, ${said}`}`
          return { ok: true, value: { action, line, written: { ...nameOf(placed), action, changed, ...fields } } }
        },
      )
    },
    async preview(session, placed, { isDiff }) {
      const document = inPlace(placed)
      const found = await find(session, document)
      const diff = compare(found, document)
      const action: Action = !found ? 'created' : diff.differences.length > 0 ? 'updated' : 'unchanged'
      const changed = action === 'updated' ? partsOf(diff) : []
      const secret = found ? (secretOf?.(document) ?? null) : null
      session.emit({ ...nameOf(placed), action, changed, ...(isDiff ? diff : {}), notCompared: secret, dryRun: true })
      const what = changed.length > 0 ? ` (${changed.join(', ')})` : ''
      const rest = secret === null ? '' : `; ${secret}: not compared`
      session.say(`${label(placed)} ${action === 'unchanged' ? action : `would be ${action}`}${what}${rest}`)
      if (isDiff) session.say(...describeDiff(diff, session.paint))
      return { ok: true, value: { action, code: EXIT.ok } }
    },
  }
}

const nameOf = ({ kind, project, name }: Placed) => ({ kind: kind.kind, project, name })
