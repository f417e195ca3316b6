import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invalid, MANIFEST_FRAGMENT, type Outcome, type Refusal, refused } from '../../client-model/index.ts'
import { inOneLine } from '../../core/errors.ts'
import { gql } from '../../documents/gql.ts'
import { DEFAULT_SETTINGS, type Manifest, writeManifest } from '../../manifest/index.ts'
import { addressIn, type Located } from '../objects/address.ts'
import { follow } from '../objects/follow.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Io, printLine } from '../terminal/io.ts'
import type { Action, Placed } from './appliable.ts'
import { type Before, differs, updateInstallation } from './apply-manifest.ts'
import { installations } from './installations.ts'
import { loadDocuments } from './load-documents.ts'
import { atSource } from './source.ts'

export interface EditOptions {
  readonly wait?: boolean
  readonly reconcile: boolean
}

const SHOWN = gql(`query EditedInstallation($id: ID!) {
  object(id: $id) { __typename id generation phase parent { id } ...Manifest }
}\n${MANIFEST_FRAGMENT}`)
const HEAD = '# What you save is applied. Leave it as it is to change nothing.\n'
const OUR_HEAD = /^# (?:What you save|Refused:) .*\n/
const FILE = 'installation.yaml'
/** The default without $VISUAL and $EDITOR. */
const EDITOR = 'vi'
/** Its file descriptor. */
const STDERR = 2

/**
 * Opens the manifest of a root installation in the user's editor and applies the saved text. It is refused if the installation
 * was changed since it was read. At a terminal a text with mistakes is opened again. A text that was not applied stays in its file, and
 * a message names the file.
 */
export async function editInstallation(session: Session, { id }: Located, options: EditOptions): Promise<ExitCode> {
  const { client, io } = session
  const { object } = await client.query(SHOWN, { id }, { signal: io.signal })
  if (object?.__typename !== 'Installation' || object.parent)
    return session.refuse(invalid('Only root installations can be edited: what is nested is in the spec of its root.'))
  const { name, project, generation, phase, labels, description, ignored } = object
  const about = { id, name, project: project.name, generation, phase, labels, description, ignored }
  // Only this user may read the folder: a spec may be confidential.
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-edit-'))
  const file = join(folder, FILE)
  const keep = (isOutdated = false): void =>
    printLine(
      io.stderr,
      isOutdated
        ? `Your text is in ${file}: phaseline diff -f ${file} shows what it would take back, and phaseline runs ${addressIn(project.name, [name])} by whom.`
        : `Your text is in ${file}: phaseline apply -f ${file}`,
    )
  let text = `${HEAD}${writeManifest({ ...object, project: project.name })}`
  let refusedWith: ExitCode | null = null
  for (;;) {
    await writeFile(file, text, { mode: 0o600 })
    const edited = await openEditor(io, file)
    const saved = await readFile(file, 'utf8')
    const isSaved = withoutHead(saved) !== withoutHead(text)
    if (!edited.ok || !isSaved) {
      const code = edited.ok ? refusedWith : session.refuse(edited.refusal)
      if (isSaved || refusedWith !== null) keep()
      else await rm(folder, { recursive: true })
      return code ?? report(session, { ...about, action: 'unchanged' })
    }
    const written = await apply(session, file, about, options.reconcile).catch((error: unknown) => {
      // The server may be away.
      keep()
      throw error
    })
    if (written.ok) {
      await rm(folder, { recursive: true })
      report(session, { ...about, ...written.value })
      if (!options.wait || written.value.action === 'unchanged') return EXIT.ok
      return await follow(session, id, ({ outcome }) => outcome === 'succeeded')
    }
    refusedWith = session.refuse(written.refusal)
    if (!io.stdin.isTTY || written.refusal.code !== 'INVALID_INPUT') {
      keep(written.refusal.code === 'GENERATION_MISMATCH')
      return refusedWith
    }
    text = withRefusal(saved, written.refusal)
  }
}

/** The text with its mistakes in the first line, instead of the line that was there: all others keep their numbers. */
function withRefusal(text: string, { message, fields = [] }: Refusal): string {
  const why = (inOneLine(fields) || message).replaceAll(/\s+/g, ' ')
  return `# Refused: ${why} Leave it as it is to give up.\n${withoutHead(text)}`
}

const withoutHead = (text: string): string => text.replace(OUR_HEAD, '')

function report(session: Session, { id, name, project, phase, generation, action }: EditResult): ExitCode {
  session.say(`${addressIn(project, [name])} ${action} (generation ${generation})`)
  session.emit({ id, phase, generation, action, name, project })
  return EXIT.ok
}

interface Edited extends Before {
  readonly name: string
  readonly project: string
  readonly phase: string
}
type EditResult = Pick<Edited, 'id' | 'name' | 'project' | 'phase' | 'generation'> & { readonly action: Action }

async function apply(session: Session, file: string, edited: Edited, reconcile: boolean) {
  const loaded = await loadDocuments(session.io, { file: [file], project: edited.project, kinds: [installations] })
  if (!loaded.ok) return loaded
  const [placed, ...more] = loaded.value as readonly Placed<Manifest>[]
  if (!placed || more.length > 0 || !isSame(placed, edited))
    return refused(invalid(`It must stay one document, of ${edited.project}/${edited.name}.`))
  // Fields that the user removed from the text are removed.
  const manifest = { ...DEFAULT_SETTINGS, ...placed.document, project: placed.project }
  // A comment, or another way to write the same, is no change.
  if (!(await differs(session, edited, manifest)))
    return { ok: true, value: { ...edited, action: 'unchanged' as Action } } as const
  const updated = await updateInstallation(session, edited, manifest, reconcile)
  if (updated.ok) return { ok: true, value: updated.value } as const
  return refused(atSource(said(updated.refusal), placed.source))
}

const isSame = (one: Pick<Placed, 'name' | 'project'>, other: Edited): boolean =>
  one.name === other.name && one.project === other.project

const said = (refusal: Refusal): Refusal =>
  refusal.code === 'GENERATION_MISMATCH'
    ? { ...refusal, message: 'Somebody else has changed it meanwhile: nothing was applied.' }
    : refusal

/** Resolves when the editor has ended. It has the terminal of this process; standard output is for the result alone. */
async function openEditor({ env, stdout }: Io, file: string): Promise<Outcome<null>> {
  const editor = env.VISUAL || env.EDITOR || EDITOR
  // The setting may have arguments, as `code --wait` has.
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], {
    stdio: ['inherit', stdout.isTTY ? 'inherit' : STDERR, 'inherit'],
    env: env as NodeJS.ProcessEnv,
  })
  const [code, signal] = await once(child, 'close')
  if (code === 0) return { ok: true, value: null }
  return refused(invalid(`${editor} ended with ${signal ?? `exit code ${code}`}: nothing was applied.`))
}
