import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import { resourcePath } from '../../../../agents/kubernetes/paths.ts'
import { Mask } from '../../../../agents/mask.ts'
import type { DryRun, Work, WorkItem } from '../../../../client/index.ts'
import { DeployError } from '../deploy-error.ts'
import { ownerOf } from '../kubernetes/annotations.ts'
import type { ClusterOptions } from '../kubernetes/cluster.ts'
import { clusterDryRun, clusterWork, type ManifestSource } from '../kubernetes/cluster-work.ts'

import { type ManifestConfig, objectsOf } from '../kubernetes/read-config.ts'

import { capabilityArguments } from './capabilities.ts'
import { type ChartSources, chartArguments } from './charts.ts'
import { type Helm, runHelm } from './helm.ts'
import { type ReleaseConfig, readConfig } from './read-config.ts'
import { isDefinition, releaseOf } from './rendered.ts'

export interface HelmOptions extends ClusterOptions {
  readonly helm: Helm
  readonly charts: ChartSources
}

/** The `helm` deployer: applies what `helm template` makes of a chart, and deletes it. Helm itself stores nothing. */
export const helmWork = (options: HelmOptions): Work =>
  clusterWork(options, (item, source) => manifestsOf(item, source, options))
export const helmDryRun = (options: HelmOptions): DryRun =>
  clusterDryRun(options, (item, source) => manifestsOf(item, source, options))

async function manifestsOf(item: WorkItem, source: ManifestSource, options: HelmOptions): Promise<ManifestConfig> {
  const config = readConfig(item.config, item.name)
  const { objects, leftOut } = releaseOf(await render(config, source, options), config)
  for (const title of leftOut) source.context.log('SYSTEM', `${title} is left out`)
  const manifests = await withoutOthersDefinitions(item, source, objects)
  const {
    chart: _chart,
    repo: _repo,
    version: _version,
    release: _release,
    values: _values,
    hooks: _hooks,
    crds: _crds,
    ...settings
  } = config
  return { ...settings, manifests }
}

async function render(
  config: ReleaseConfig,
  source: ManifestSource,
  options: HelmOptions,
): Promise<readonly KubernetesObject[]> {
  const { api, context } = source
  const { release, values = {}, namespace = source.namespace } = config
  context.report({ progress: { step: `Rendering the chart ${config.chart}` } })
  const mask = new Mask(textsOf(values))
  try {
    const { stdout, stderr } = await runHelm(options.helm, {
      args: [
        ...['template', release, ...(await chartArguments(options.charts, config))],
        ...[`--namespace=${namespace}`, '--include-crds', '--values=-'],
        ...(await capabilityArguments(api)),
      ],
      // Never an argument or a file: they may hold secrets.
      input: JSON.stringify(values),
      signal: context.signal,
    })
    for (const line of stderr.split('\n').slice(0, MOST_LINES))
      if (line.trim() !== '') context.log('STDERR', mask.apply(line, false))
    return objectsOf('HELM_FAILED', stdout, 'rendered')
  } catch (error) {
    throw error instanceof DeployError ? new DeployError(error.code, mask.apply(error.message, false)) : error
  }
}
const MOST_LINES = 100

/** All texts among the values. */
const textsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/** A definition that is there already, and is not the item's, stays as it is. */
async function withoutOthersDefinitions(
  { objectId }: WorkItem,
  { api, context }: ManifestSource,
  manifests: readonly KubernetesObject[],
): Promise<readonly KubernetesObject[]> {
  const wanted = await Promise.all(
    manifests.map(async (manifest) => {
      if (!isDefinition(manifest)) return [manifest]
      const { apiVersion, metadata } = manifest
      const path = resourcePath(apiVersion, 'customresourcedefinitions', { name: metadata.name })
      const found = await api.find<KubernetesObject>(path)
      if (!found || ownerOf(found) === objectId) return [manifest]
      context.log('SYSTEM', `CustomResourceDefinition ${metadata.name} is there already, and stays as it is`)
      return []
    }),
  )
  return wanted.flat()
}
