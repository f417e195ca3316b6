import { loadPart } from '../data/load-part.ts'
import { EVERYTHING, type Example } from '../model/examples.ts'
import { knownFamilies } from '../model/known.ts'
import { automation } from './automation/index.ts'
import { deployments } from './deployments/index.ts'
import { edge } from './edge/index.ts'
import type { CreateForm, DashboardFamily } from './family.ts'
import { flow } from './flow/index.ts'
import { notifications } from './notifications/index.ts'
import { operations } from './operations/index.ts'
import { pipelines } from './pipelines/index.ts'

/** All families with parts of their own in the dashboard: the only list of them. */
const FAMILIES: readonly DashboardFamily[] = [deployments, pipelines, operations, edge, automation, flow, notifications]

/** The families of the list that the server has. */
export const families = (): readonly DashboardFamily[] =>
  FAMILIES.filter(({ name }) => knownFamilies().some((known) => known.name === name))

// A page belongs to one server, so each family is loaded once.
let forms: Promise<readonly CreateForm[]> | undefined
export function allForms(): Promise<readonly CreateForm[]> {
  const ofProjects = async () => (await loadPart(() => import('../pages/projects/forms.ts'))).forms
  forms ??= Promise.all([...families().map((family) => family.forms()), ofProjects()]).then((each) => each.flat())
  return forms
}

interface ExampleGroup {
  readonly title: string
  readonly examples: readonly Example[]
}
let examples: Promise<readonly ExampleGroup[]> | undefined
export function allExamples(): Promise<readonly ExampleGroup[]> {
  const groupOf = async (family: DashboardFamily): Promise<ExampleGroup> => ({
    title: knownFamilies().find(({ name }) => name === family.name)?.title ?? family.name,
    examples: await family.examples(),
  })
  examples ??= Promise.all([{ title: 'All kinds', examples: EVERYTHING }, ...families().map(groupOf)])
  return examples
}
