import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { HelmConfig } from '../../../../core/deployers/helm.ts'
import { DeployError } from '../deploy-error.ts'

/** The allowed sources of charts, as the operator sets them. */
export interface ChartSources {
  /** A folder of charts. */
  readonly folder: string | undefined
  /** Beginnings of what may be fetched, such as `oci://ghcr.io/shop` and `https://charts.example.com`. */
  readonly repositories: readonly string[]
}

const CODE = 'HELM_CHART'

/** The arguments of `helm template` that name the chart. @throws DeployError */
export async function chartArguments(sources: ChartSources, config: HelmConfig): Promise<readonly string[]> {
  const { chart, repo, version } = config
  const reference = repo ?? (chart.startsWith('oci://') ? chart : undefined)
  if (reference === undefined) return [await pathOf(sources, chart)]
  if (!sources.repositories.some((beginning) => isWithin(reference, beginning)))
    throw new DeployError(
      CODE,
      `Charts are not fetched from ${reference}: the deployer’s --repositories has to name what it may be fetched from.`,
    )
  return [
    chart,
    ...(repo === undefined ? [] : [`--repo=${repo}`]),
    ...(version === undefined ? [] : [`--version=${version}`]),
  ]
}

/** A name cannot lead out of the folder, not even through a link. */
async function pathOf({ folder }: ChartSources, chart: string): Promise<string> {
  if (folder === undefined)
    throw new DeployError(
      CODE,
      `The deployer has no chart ${chart}: it was started without --charts, a folder of charts.`,
    )
  const root = await realpath(folder).catch(() => null)
  const path = root === null ? null : await realpath(join(root, chart)).catch(() => null)
  if (root === null || path === null)
    throw new DeployError(CODE, `There is no chart ${chart} in the folder of --charts.`)
  if (!path.startsWith(root + sep))
    throw new DeployError(CODE, `The chart ${chart} lies outside of the folder of --charts.`)
  return path
}

/** The same host, and a path below. */
export function isWithin(reference: string, beginning: string): boolean {
  if (!URL.canParse(reference) || !URL.canParse(beginning)) return false
  const [of, within] = [new URL(reference), new URL(beginning)]
  const base = within.pathname.replace(/\/+$/, '')
  const isBelow = of.pathname === base || of.pathname.startsWith(`${base}/`)
  return of.protocol === within.protocol && of.host === within.host && isBelow
}
