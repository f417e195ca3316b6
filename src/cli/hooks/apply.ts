import { type Outcome, REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import {
  appliedHook,
  type HookManifest,
  hookInput,
  hookManifest,
  hookSchema,
  type ManifestProblem,
} from '../../manifest/index.ts'
import { eachPage } from '../list.ts'
import { type Completed, ORDER, type Surroundings } from '../manifests/appliable.ts'
import { readBeside } from '../manifests/read-beside.ts'
import { recordKind, type Written } from '../manifests/record-kind.ts'
import type { RecordName } from '../objects/record-commands.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { type FoundHook, findHook, HOOK_FIELDS } from './find.ts'

const CREATE = gql(`mutation ApplyNewHook($input: CreateHookInput!) {
  answer: createHook(input: $input) { __typename ... on Hook { id path generation disabled } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
export const UPDATE = gql(`mutation ApplyHook($input: UpdateHookInput!) {
  answer: updateHook(input: $input) { __typename ... on Hook { id path generation disabled } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const LIST = gql(`query ListExportedHooks($project: String, $first: Int!, $after: String) {
  hooks(project: $project, first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node { id name } } }
}`)
const READ = gql(`query ReadHooks($ids: [ID!]!) { nodes(ids: $ids) { ...HookFields } }\n${HOOK_FIELDS}`)

interface Secret {
  readonly name: string
  /** Left out: it stays as it is. */
  readonly value?: string
}
/** A hook with the values of its secrets, which come from elsewhere. */
interface ReadyHook extends HookManifest {
  readonly given: readonly Secret[]
  readonly token?: string
}

export const hooks = recordKind<HookManifest, ReadyHook, FoundHook>({
  ...{ kind: 'Hook', noun: 'hook', order: ORDER.trigger, schema: hookSchema },
  complete: withSecrets,
  find: findHook,
  manifest: hookManifest,
  applied: (hook, found) => appliedHook({ ...hook, secrets: hook.secrets ?? [...(found?.secrets ?? [])] }),
  write,
  secretOf: ({ secrets = [], redelivery }) =>
    [...secrets, redelivery?.token ?? {}].some(({ file, env }: Place) => file ?? env) ? 'secrets' : null,
  async *list(session, project, labels) {
    if (labels.length === 0) yield* eachPage(session, { document: LIST, page: (answer) => answer.hooks }, { project })
  },
  async read({ client, io }, ids) {
    const { nodes } = await client.query(READ, { ids }, { signal: io.signal })
    return nodes.map((node) => (node?.format ? node : null))
  },
  omitted({ name, project, secrets, redelivery }) {
    const names = [...secrets.map((one) => one.name), ...(redelivery ? ['redelivery.token'] : [])]
    if (names.length === 0) return []
    const what = `The manifest of hook ${project.name}/${name} lacks the values of ${names.join(', ')}`
    return [`${what}: where it is new, give each an \`env\` or a \`file\`.`]
  },
})

async function write(
  session: Session,
  found: FoundHook | null,
  { project, name, given, token, ...hook }: ReadyHook & RecordName,
): Promise<Outcome<Written>> {
  const { redelivery, secrets } = hook
  const input = {
    ...hookInput({ ...hook, name }),
    redelivery: redelivery ? { address: redelivery.address, ...(token !== undefined && { token }) } : null,
  }
  const outcome = found
    ? await ask(session, UPDATE, {
        ...{ id: found.id, expectedGeneration: found.generation, ...input },
        ...(secrets && { secrets: [...given] }),
      })
    : await ask(session, CREATE, { project, name, ...input, secrets: [...given] })
  if (!outcome.ok) return outcome
  const { id, path, generation } = outcome.value
  const said = found ? null : `deliveries go to ${new URL(path, session.connection.url).href}`
  return { ok: true, value: { said, isChanged: generation !== found?.generation, fields: { id, path, generation } } }
}

interface Place {
  readonly file?: string | undefined
  readonly env?: string | undefined
}

async function withSecrets(hook: HookManifest, surroundings: Surroundings): Promise<Completed<ReadyHook>> {
  const problems: ManifestProblem[] = []
  const read = async (path: string, place: Place): Promise<string | undefined> => {
    const found = await readValue(place, surroundings)
    if (found === null || found.ok) return found?.value
    problems.push({ path: `${path}.${place.env === undefined ? 'file' : 'env'}`, message: found.message })
    return undefined
  }
  const given: Secret[] = []
  for (const [i, { name, ...place }] of (hook.secrets ?? []).entries()) {
    const value = await read(`secrets.${i}`, place)
    given.push({ name, ...(value !== undefined && { value }) })
  }
  const token = await read('redelivery.token', hook.redelivery?.token ?? {})
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, value: { ...hook, given, ...(token !== undefined && { token }) } }
}

type Value = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly message: string }

/** Values come from files beside the manifest, or from variables of this process, and never from the manifest itself; null: from neither. */
async function readValue({ file, env }: Place, { io, folder, isPreview }: Surroundings): Promise<Value | null> {
  if (isPreview) return null
  if (env !== undefined) {
    const value = io.env[env]
    return value ? { ok: true, value } : { ok: false, message: `is to come from the variable ${env}, which is not set` }
  }
  if (file === undefined) return null
  const found = await readBeside(folder, file, io.stdin)
  return found.ok ? { ok: true, value: found.text.replace(/\r?\n$/, '') } : found
}
