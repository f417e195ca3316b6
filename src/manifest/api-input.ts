import { type Manifest, settingsOf } from './installation.ts'
import { type Pair, pairsOf, variablesOf } from './pairs.ts'
import type { TaskManifest } from './task.ts'

/** Converts a manifest to an input of the API. */

/** Omitted labels stay as they are. */
export const labelsInput = ({ labels }: Pick<Manifest, 'labels'>): { readonly labels?: readonly Pair[] } =>
  labels ? { labels: pairsOf(labels) } : {}

/** The fields that createInstallation and updateInstallation share; omitted ones stay as they are. */
export function installationInput(manifest: Manifest) {
  const { labels, ...settings } = settingsOf(manifest)
  return { spec: manifest.spec, ...settings, ...labelsInput(manifest) }
}

/** As CreateTaskInput; `project` is used when the file names none. */
export const taskInput = ({ kind: _, labels, jobs, ...task }: TaskManifest, project: string) => ({
  ...task,
  project: task.project ?? project,
  ...labelsInput({ labels }),
  jobs: jobs.map(({ env, ...job }) => ({
    ...job,
    ...(env ? { env: variablesOf(env) } : {}),
  })),
})
