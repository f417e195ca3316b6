import type { Client } from 'phaseline/client'
import { type ProjectSpec, projectSpecOf } from 'phaseline/manifest'
import type { Outcome } from '../model/refusal.ts'
import { ask } from './create.ts'
import { CREATE_PROJECT, PROJECT_SPEC, UPDATE_PROJECT } from './documents-create.ts'
import type { Session } from './session.ts'

/** What a project has for its pipelines; null when there is none of this name, for this viewer. */
export async function readProjectSpec(
  { client }: Session,
  name: string,
  signal: AbortSignal,
): Promise<ProjectSpec | null> {
  const { project } = await client.query(PROJECT_SPEC, { name }, { signal })
  return project && projectSpecOf(project)
}

interface SpecWritten {
  readonly name: string
}
export const createProject = (client: Client, input: object): Promise<Outcome<SpecWritten>> =>
  ask(client, CREATE_PROJECT, input)
export const updateProject = (client: Client, input: object): Promise<Outcome<SpecWritten>> =>
  ask(client, UPDATE_PROJECT, input)
