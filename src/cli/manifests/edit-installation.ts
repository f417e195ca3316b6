import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invalid, MANIFEST_FRAGMENT, type Outcome, type Refusal, refused } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import { DEFAULT_SETTINGS, type Manifest, writeManifest } from '../../manifest/index.ts'
import type { Located } from '../objects/address.ts'
import { follow } from '../objects/follow.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Io, printLine } from '../terminal/io.ts'
import type { Placed } from './appliable.ts'
import { type Before, updateInstallation } from './apply-manifest.ts'
import { installations } from './installations.ts'
import { loadDocuments } from './load-documents.ts'
import { atSource } from './source.ts'

export interface EditOptions {
  readonly wait?: boolean
  readonly reconcile: boolean
}

const SHOWN = gql(`query EditedInstallation($id: ID!) {
  object(id: $id) { __typename id generation parent { id } ...Manifest }
}\n${MANIFEST_FRAGMENT}`)
const HEAD = '# What you save is applied. Leave it as it is to change nothing.\n'
const FILE = 'installation.yaml'
/** The default without $VISUAL and $EDITOR. */
const EDITOR = 'vi'

/**
 * Opens the manifest of a root installation in the user's editor and applies the saved text. It is refused if the installation
 * was changed since it was read. A text that was not applied stays in its file, and a message names the file.
 */
export async function editInstallation(session: Session, { id }: Located, options: EditOptions): Promise<ExitCode> {
  const { client, io } = session
  const { object } = await client.query(SHOWN, { id }, { signal: io.signal })
  if (object?.__typename !== 'Installation' || object.parent)
    return session.refuse(invalid('Only root installations can be edited: what is nested is in the spec of its root.'))
  const { name, project, generation } = object
  // Only this user may read the folder: a spec may be confidential.
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-edit-'))
  const file = join(folder, FILE)
  const before = `${HEAD}${writeManifest({ ...object, project: project.name })}`
  await writeFile(file, before, { mode: 0o600, flag: 'wx' })
  const edited = await openEditor(io, file)
  if (!edited.ok || (await readFile(file, 'utf8')) === before) {
    await rm(folder, { recursive: true })
    if (!edited.ok) return session.refuse(edited.refusal)
    session.say(`${name} unchanged (generation ${generation})`)
    return EXIT.ok
  }
  const keep = (): void => printLine(io.stderr, `What you wrote is in ${file}: phaseline apply -f ${file}`)
  const { labels, description, ignored } = object
  const about = { id, name, project: project.name, generation, labels, description, ignored }
  const written = await apply(session, file, about, options.reconcile).catch((error: unknown) => {
    // The server may be away.
    keep()
    throw error
  })
  if (!written.ok) {
    const code = session.refuse(written.refusal)
    keep()
    return code
  }
  await rm(folder, { recursive: true })
  session.say(`${name} ${written.value.action} (generation ${written.value.generation})`)
  session.emit(written.value)
  if (!options.wait) return EXIT.ok
  return await follow(session, id, ({ outcome }) => outcome === 'succeeded')
}

interface Edited extends Before {
  readonly name: string
  readonly project: string
}

async function apply(session: Session, file: string, edited: Edited, reconcile: boolean) {
  const loaded = await loadDocuments(session.io, { file: [file], project: edited.project, kinds: [installations] })
  if (!loaded.ok) return loaded
  const [placed, ...more] = loaded.value as readonly Placed<Manifest>[]
  if (!placed || more.length > 0 || !isSame(placed, edited))
    return refused(invalid(`It must stay one document, of ${edited.project}/${edited.name}.`))
  // Fields that the user removed from the text are removed.
  const manifest = { ...DEFAULT_SETTINGS, ...placed.document, project: placed.project }
  const updated = await updateInstallation(session, edited, manifest, reconcile)
  if (updated.ok) return { ok: true, value: { ...updated.value, name: edited.name, project: edited.project } } as const
  return refused(atSource(said(updated.refusal), placed.source))
}

const isSame = (one: Pick<Placed, 'name' | 'project'>, other: Edited): boolean =>
  one.name === other.name && one.project === other.project

const said = (refusal: Refusal): Refusal =>
  refusal.code === 'GENERATION_MISMATCH'
    ? { ...refusal, message: 'Somebody else has changed it meanwhile: nothing was applied.' }
    : refusal

/** Resolves when the editor has ended. It has the terminal of this process. */
async function openEditor({ env }: Io, file: string): Promise<Outcome<null>> {
  const editor = env.VISUAL || env.EDITOR || EDITOR
  // The setting may have arguments, as `code --wait` has.
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], {
    stdio: 'inherit',
    env: env as NodeJS.ProcessEnv,
  })
  const [code, signal] = await once(child, 'close')
  if (code === 0) return { ok: true, value: null }
  return refused(invalid(`${editor} ended with ${signal ?? `exit code ${code}`}: nothing was applied.`))
}
