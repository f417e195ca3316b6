import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { KUBERNETES_MANIFEST } from '../../core/deployers/kubernetes-manifest.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Manifest, ManifestProblem } from '../../manifest/index.ts'
import { readObjects } from '../../manifest/kubernetes-objects.ts'
import type { Io } from '../terminal/io.ts'
import type { InputText } from '../terminal/read-input.ts'
import type { Completed } from './appliable.ts'
import { ArtifactRefusal, filesOfArtifact } from './oci-source.ts'
import { isBeside, readBeside } from './read-beside.ts'

/**
 * Objects of a cluster can be written elsewhere: an entry of `manifests` may be a file, a folder, a kustomization, or an address
 * or an artifact with a digest. They are read here and sent as texts, so that the server has what was applied, whatever becomes of the source.
 */

const KEYS = ['file', 'folder', 'kustomize', 'url', 'oci'] as const
type Source = Readonly<Record<string, unknown>>
type Spec = Manifest['spec']

/** Folders that are more than their files. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/^kustomization(\.ya?ml)?$/i, 'a kustomization: write `kustomize` in place of `folder`'],
  [/^Chart\.yaml$/, 'a chart: deploy it by an item of the type helm'],
]
const MANIFEST_FILE = /\.(ya?ml|json)$/i
/** As much as one request may hold. */
const MAX_BYTES = 16 * 1024 * 1024
const FETCH_MS = 30_000
const KUSTOMIZE_MS = 60_000
/** Programs that build a kustomization, the first that is installed. */
const KUSTOMIZE = [
  ['kubectl', 'kustomize'],
  ['kustomize', 'build'],
] as const

interface Context {
  /** The folder of the manifest. Files outside of it are refused. */
  readonly folder: string
  readonly io: Pick<Io, 'stdin' | 'env'>
  readonly problems: ManifestProblem[]
}

/** The manifest with the texts of its sources, or the problems with them. */
export async function withSources(
  manifest: Manifest,
  { folder, io }: Omit<Context, 'problems'>,
): Promise<Completed<Manifest>> {
  const problems: ManifestProblem[] = []
  const spec = await inSpec(manifest.spec, 'spec', { folder, io, problems })
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: { ...manifest, spec } }
}

async function inSpec(spec: Spec, path: string, context: Context): Promise<Spec> {
  const { installations, deployItems, ...rest } = spec
  const nested: NonNullable<Spec['installations']> = []
  for (const [i, one] of (installations ?? []).entries())
    nested.push({ ...one, spec: await inSpec(one.spec, `${path}.installations.${i}.spec`, context) })
  const items: NonNullable<Spec['deployItems']> = []
  for (const [i, item] of (deployItems ?? []).entries()) {
    const { config } = item
    const given = item.type === KUBERNETES_MANIFEST && isObject(config) ? config.manifests : undefined
    if (!(Array.isArray(given) && given.some(isSource))) items.push(item)
    else {
      const manifests = await inList(given, `${path}.deployItems.${i}.config.manifests`, context)
      items.push({ ...item, config: { ...(config as Source), manifests } as typeof config })
    }
  }
  return { ...rest, ...(installations && { installations: nested }), ...(deployItems && { deployItems: items }) }
}

async function inList(entries: readonly unknown[], path: string, context: Context): Promise<unknown[]> {
  const read: unknown[] = []
  for (const [i, entry] of entries.entries()) {
    if (!isSource(entry)) read.push(entry)
    else
      for (const one of await textsOf(entry, context)) {
        const problems = one.ok ? problemsOf(one.text, one.name) : [one.message]
        context.problems.push(...problems.map((message) => ({ path: `${path}.${i}`, message })))
        // `${` is the shell's or the application's own in such a text, and no expression.
        if (one.ok) read.push(one.text.replaceAll('${', () => '$${'))
      }
  }
  return read
}

/** Problems of the objects of a text. The server knows only its place among the others. */
const problemsOf = (text: string, name: string): readonly string[] => {
  // Reading takes seconds for each megabyte, and the server takes no more.
  if (Buffer.byteLength(text) > LIMITS.json.max)
    return [`${name} is larger than ${LIMITS.json.max / 1_024} KiB, the most that the config of an item may have.`]
  return readObjects(text, '').problems.map(({ path, message }) =>
    `${name}: ${path.slice(1)} ${message}`.replace(/ {2,}/, ' '),
  )
}

/** The text of a source, with the name by which people know it. */
type Named = (InputText & { readonly ok: false }) | (InputText & { readonly ok: true; readonly name: string })
const named = (name: string, read: InputText): Named => (read.ok ? { ...read, name } : read)

const isObject = (value: unknown): value is Source =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** An object of a cluster has a kind. */
const isSource = (value: unknown): value is Source =>
  isObject(value) && !('kind' in value) && KEYS.some((key) => key in value)

async function textsOf(source: Source, context: Context): Promise<readonly Named[]> {
  const { folder, io } = context
  const { sha256, ...one } = source
  const [[key, value] = [], ...more] = Object.entries(one)
  if (more.length > 0 || typeof value !== 'string' || value === '')
    return [refused(`A source has one of ${KEYS.join(', ')}, as a text, and a url its sha256.`)]
  if (key === 'url') return [named(value, await fetched(value, sha256))]
  if (sha256 !== undefined) return [refused('Only a url has a sha256.')]
  if (key === 'oci') return await inArtifact(value, io.env)
  if (key === 'file') return [named(value, await readBeside(folder, value, io.stdin))]
  return key === 'kustomize' ? [named(value, await built(context, value))] : await inFolder(context, value)
}

/** The YAML and JSON files that lie in it, as `kubectl apply -f` takes them, sorted by name. */
async function inFolder({ folder, io }: Context, name: string): Promise<readonly Named[]> {
  const entries = await readdir(join(folder, name)).catch((error: Error) => error)
  if (entries instanceof Error) return [refused(`Cannot read the folder ${name}: ${entries.message}`)]
  const files = entries.filter((entry) => MANIFEST_FILE.test(entry)).sort()
  const other = OTHERS.find(([pattern]) => entries.some((entry) => pattern.test(entry)))
  if (other) return [refused(`${name} is ${other[1]}.`)]
  if (files.length === 0) return [refused(`${name} holds no .yaml, .yml or .json file.`)]
  return await Promise.all(
    files.map(async (file) => named(join(name, file), await readBeside(folder, join(name, file), io.stdin))),
  )
}

/** The YAML and JSON files of an artifact in a registry, sorted by path. */
async function inArtifact(reference: string, env: Io['env']): Promise<readonly Named[]> {
  try {
    const files = await filesOfArtifact(reference, env)
    const other = OTHERS.find(([pattern]) => files.some(({ path }) => pattern.test(basename(path))))
    if (other) return [refused(`${reference} holds ${other[1].split(':')[0]}, which is not built from an artifact.`)]
    const manifests = files.filter(({ path }) => MANIFEST_FILE.test(path))
    if (manifests.length === 0) return [refused(`${reference} holds no .yaml, .yml or .json file.`)]
    return manifests.map(({ path, text }) => named(`${reference} ${path}`, { ok: true, text }))
  } catch (error) {
    if (error instanceof ArtifactRefusal) return [refused(error.message)]
    throw error
  }
}

async function built({ folder, io }: Context, name: string): Promise<InputText> {
  const target = await realpath(join(folder, name)).catch(() => null)
  if (target === null) return refused(`There is no folder ${name}.`)
  if (!(await isBeside(folder, name)))
    return refused(`${name} is outside of the folder of the manifest: move it there.`)
  for (const [program, verb] of KUSTOMIZE) {
    const text = await run(program, [verb, target], io.env)
    if (text !== null) return text
  }
  return refused(`A kustomization takes kubectl or kustomize in PATH to build ${name}.`)
}

/** Null: the program is not installed. A kustomization may take variables of its environment. */
const run = (program: string, args: readonly string[], env: Io['env']): Promise<InputText | null> =>
  new Promise((resolve) => {
    execFile(program, [...args], { env, timeout: KUSTOMIZE_MS, maxBuffer: MAX_BYTES }, (error, stdout, stderr) => {
      if (!error) resolve({ ok: true, text: stdout })
      else if (error.code === 'ENOENT') resolve(null)
      else {
        const reason = error.killed
          ? `took longer than ${KUSTOMIZE_MS / 1_000} s, or wrote more than 16 MB`
          : stderr.trim()
        resolve(refused(`${program} ${args.join(' ')}: ${reason || error.message}`))
      }
    })
  })

async function fetched(address: string, sha256: unknown): Promise<InputText> {
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256))
    return refused('A url needs its sha256, 64 hexadecimal digits, so that what is applied is what was meant.')
  if (!/^https?:\/\//.test(address)) return refused('A url begins with https:// or http://.')
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(FETCH_MS) })
    if (!response.ok) return refused(`${address} answered ${response.status}.`)
    const bytes = await bytesOf(response)
    if (bytes === null) return refused(`${address} is larger than 16 MB.`)
    const digest = createHash('sha256').update(bytes).digest('hex')
    if (digest !== sha256.toLowerCase())
      return refused(`${address} has the sha256 ${digest}, not the one that is named.`)
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    const { cause } = error as Error
    return refused(`${address} cannot be read: ${cause instanceof Error ? cause.message : (error as Error).message}`)
  }
}

async function bytesOf({ body }: Response): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const refused = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message })
