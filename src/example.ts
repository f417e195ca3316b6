import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { watchTree } from './cli/objects/watch.ts'
import { type Client, createClient } from './client/index.ts'
import { gql } from './documents/gql.ts'
import type { VariablesOf } from './documents/typed-document.ts'
import { parseManifests } from './manifest/index.ts'

export interface ExampleOptions {
  readonly origin: string
  readonly token: string
  /** A file that is there once the example was applied. */
  readonly applied: string
  /** Folder of the example's files. */
  readonly folder: string
  readonly signal: AbortSignal
  say(text: string): void
}

const CREATE = gql(`mutation ($input: CreateInstallationInput!) {
  created: createInstallation(input: $input) { __typename ... on Installation { id } ... on Error { code message } }
}`)
const EXPORTS = gql('query ($id: ID!) { object(id: $id) { ... on Installation { exports } } }')
type Input = VariablesOf<typeof CREATE>['input']

/**
 * Applies the web shop to a new data folder, shows its tree until it is final, and prints the shop's address. False: it
 * was shown before, or the user has stopped it.
 */
export async function showExample({ origin, token, applied, folder, signal, say }: ExampleOptions): Promise<boolean> {
  if (existsSync(applied)) return false
  const parsed = parseManifests(await readFile(join(folder, 'webshop.yaml'), 'utf8'))
  if (!parsed.ok) throw new Error(`the example cannot be read: ${parsed.problems.map((p) => p.message).join('; ')}`)
  await using client = createClient({ url: `${origin}/graphql`, token })
  for (const { name, labels, spec } of parsed.manifests) {
    const id = await create(client, {
      name,
      spec,
      labels: Object.entries(labels ?? {}).map(([key, value]) => ({ key, value })),
    })
    // An installation of that name exists already.
    if (!id) continue
    const { outcome } = await watchTree(client, id, { out: process.stdout, signal })
    if (outcome === 'interrupted') return false
    const { object } = await client.query(EXPORTS, { id })
    for (const [key, value] of Object.entries(object?.exports ?? {})) say(`${name} exports ${key}: ${String(value)}`)
  }
  await writeFile(applied, '')
  return true
}

async function create(client: Client, input: Input): Promise<string | null> {
  const { created } = await client.query(CREATE, { input })
  if (created?.id) return created.id
  if (created?.code === 'ALREADY_EXISTS') return null
  throw new Error(`the example was refused: ${created?.message ?? 'no answer'}`)
}
