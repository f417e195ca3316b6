import { pause } from '../../client/pause.ts'
import {
  DRY_RUN_FRAGMENT,
  linesOfChange,
  outcomeOf,
  REFUSAL_FRAGMENT,
  type Refusal,
  readDryRun,
  titleOfChange,
} from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf, VariablesOf } from '../../documents/typed-document.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import type { Paint } from '../terminal/paint.ts'
import { words } from '../terminal/text.ts'

const DRY_RUN = gql(`mutation DryRun($input: DryRunInstallationInput!) {
  dryRunInstallation(input: $input) { __typename ... on DryRun { id } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const READ = gql(`query ReadDryRun($id: ID!) { dryRun(id: $id) { ...OnTargets } }\n${DRY_RUN_FRAGMENT}`)

export type DryRun = NonNullable<ResultOf<typeof READ>['dryRun']>
type Item = DryRun['items'][number]
type Change = Item['changes'][number]

/** Asks the targets what would change, and waits for all that can be said. */
export async function askTargets(
  { client, io }: Session,
  input: VariablesOf<typeof DRY_RUN>['input'],
): Promise<{ readonly ok: true; readonly dryRun: DryRun } | { readonly ok: false; readonly refusal: Refusal }> {
  const { signal } = io
  const asked = outcomeOf((await client.query(DRY_RUN, { input }, { signal })).dryRunInstallation)
  if (!asked.ok) return asked
  const { id } = asked.value
  const read = async () => (await client.query(READ, { id }, { signal })).dryRun
  const dryRun = await readDryRun(read, async (ms) => {
    await pause(ms, signal)
    signal?.throwIfAborted()
  })
  if (dryRun) return { ok: true, dryRun }
  return { ok: false, refusal: { code: 'NOT_FOUND', message: 'The dry run is gone: ask again.' } }
}

/** FAILED: the run would fail there. */
export const exitOf = ({ items }: DryRun): ExitCode =>
  items.some(({ state }) => state === 'FAILED' || state === 'EXPIRED') ? EXIT.failed : EXIT.ok

export function describeDryRun({ items }: DryRun, paint: Paint): readonly string[] {
  if (items.length === 0) return ['No deploy item would be called.']
  return ['On the targets:', ...items.flatMap((item) => ['', ...describeItem(item, paint)])]
}

function describeItem({ path, type, target, state, code, message, changes, truncated }: Item, paint: Paint): string[] {
  const head = `${path.join('/')} ${paint('dim', `(${type}${target === null ? '' : ` at ${target}`})`)}`
  if (state === 'FAILED') return [`${paint('red', '✗')} ${head}`, `  ${paint('red', `${code}: ${message}`)}`]
  if (state !== 'PLANNED') return [`${paint('yellow', '○')} ${head}`, `  ${message ?? words(state)}`]
  const same = changes.filter(({ action }) => action === 'UNCHANGED')
  const changed = changes.filter(({ action }) => action !== 'UNCHANGED')
  const rest = same.length > 0 ? [paint('dim', `  ${same.length} unchanged`)] : []
  const more = truncated ? [paint('yellow', '  More is left out, since it is too long.')] : []
  if (changed.length === 0) return [`${paint('green', '=')} ${head}`, '  Nothing changes.', ...more]
  return [`${paint('yellow', '~')} ${head}`, ...changed.flatMap((one) => describeChange(one, paint)), ...rest, ...more]
}

const COLOURS: Readonly<Record<string, 'green' | 'red' | 'yellow'>> = { CREATE: 'green', DELETE: 'red' }

function describeChange(change: Change, paint: Paint): string[] {
  const { action, reason } = change
  const title = `${words(action)} ${titleOfChange(change)}`
  return [
    `  ${paint(COLOURS[action] ?? 'yellow', title)}${reason === null ? '' : `: ${reason}`}`,
    ...linesOfChange(change).map((line) => `    ${paintLine(line, paint)}`),
  ]
}

function paintLine(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint('green', line)
  if (line.startsWith('-')) return paint('red', line)
  return paint('dim', line)
}
