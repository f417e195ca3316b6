import type { Client } from 'phaseline/client'
import { type ProjectSpec, projectSpecOf, type ShownProjectSpec } from 'phaseline/manifest'
import type { Outcome } from '../model/refusal.ts'
import { ask } from './create.ts'
import { createMutation, PROJECT_SPEC } from './documents-create.ts'
import type { Session } from './session.ts'

/** What a project has for its pipelines; null when there is none of this name, for this viewer. */
export async function readProjectSpec(
  { client }: Session,
  name: string,
  signal: AbortSignal,
): Promise<ProjectSpec | null> {
  const { project } = await client.query<{ project: ShownProjectSpec | null }>(PROJECT_SPEC, { name }, { signal })
  return project && projectSpecOf(project)
}

interface Written {
  readonly name: string
}
const WRITTEN = '... on Project { name }'
export const createProject = (client: Client, input: object): Promise<Outcome<Written>> =>
  ask(client, createMutation('createProject', WRITTEN), input)
export const updateProject = (client: Client, input: object): Promise<Outcome<Written>> =>
  ask(client, createMutation('updateProject', WRITTEN), input)
