import {
  durationOf,
  type Fields,
  isMap,
  listOf,
  mapOf,
  nameFrom,
  some,
  textOf,
} from '../../../../cli/import/loose-values.ts'
import { HELM } from '../../../../core/deployers/helm.ts'
import { KUBERNETES_MANIFEST } from '../../../../core/deployers/kubernetes-manifest.ts'
import { celOf } from './go-template.ts'

/** A deploy item of Landscaper as one of ours, and what a person has to decide. */
export interface ImportedItem {
  readonly item: Fields
  readonly left: readonly string[]
}

const PREFIX = 'landscaper.gardener.cloud/'

/** @param targetOf the name of a target that the item imports by a name of the blueprint */
export function importItem(given: Fields, targetOf: (name: string) => string | undefined): ImportedItem {
  const { name, type, target, dependsOn, config, timeout, ...others } = given
  const left = untaken('', others, ['labels', 'deletionGroups', 'onDelete'])
  const kind = textOf(type).replace(PREFIX, '')
  const imported = mapOf(target)
  const { import: parameter, name: named } = imported
  const targetName = parameter === undefined ? textOf(named) : (targetOf(textOf(parameter)) ?? '')
  if (target !== undefined && targetName === '') left.push('its target is not known: name one')
  const ms = durationOf(timeout)
  if (timeout !== undefined && ms === undefined) left.push(`the timeout ${textOf(timeout)} is left out`)
  const known = Object.hasOwn(CONFIGS, kind) ? CONFIGS[kind] : undefined
  if (!known) left.push(`no deployer of this product has the type ${kind}: run one, or write the item anew`)
  return {
    item: {
      name: nameFrom(textOf(name)),
      type: nameFrom(kind),
      ...some('target', targetName),
      ...some(
        'dependsOn',
        listOf(dependsOn).map((one) => nameFrom(textOf(one))),
      ),
      config: known ? known(mapOf(config), left) : mapOf(config),
      ...(ms ? { timeouts: { progressing: { ms } } } : {}),
    },
    left,
  }
}

type Left = string[]

const CONFIGS: Readonly<Record<string, (config: Fields, left: Left) => Fields>> = {
  [KUBERNETES_MANIFEST]: manifestConfig,
  [HELM]: helmConfig,
}

/** Says each setting that nothing has taken. */
function untaken(of: string, fields: Fields, known: readonly string[] = []): Left {
  const names = Object.keys(fields).filter((name) => !['apiVersion', 'kind', ...known].includes(name))
  return names.map((name) => `${of}${name} is left out`)
}

function manifestConfig(config: Fields, left: Left): Fields {
  // A server-side apply knows the fields of the manifest, which is what the strategies are about.
  const { manifests, exports, readinessChecks, updateStrategy: _, ...others } = config
  left.push(...untaken('', others))
  const policies: Fields[] = []
  const objects = listOf(manifests).map((one) => {
    const { policy = 'manage', manifest, ...more } = mapOf(one)
    left.push(...untaken('manifests: ', more))
    const { kind, metadata } = mapOf(manifest)
    if (policy !== 'manage') policies.push({ kind, name: mapOf(metadata).name, policy })
    return manifest ?? one
  })
  return {
    manifests: objects,
    ...some('policies', policies),
    ...some('readiness', readinessOf(mapOf(readinessChecks), left)),
    ...some('exports', exportsOf(mapOf(exports).exports, left)),
  }
}

const OPERATORS: Readonly<Record<string, (path: string, values: readonly unknown[]) => string>> = {
  '==': (path, [value]) => `${path} == ${celOf(value)}`,
  '=': (path, [value]) => `${path} == ${celOf(value)}`,
  '!=': (path, [value]) => `${path} != ${celOf(value)}`,
  in: (path, values) => `${path} in ${celOf(values)}`,
  notin: (path, values) => `!(${path} in ${celOf(values)})`,
  exists: (path) => `has(${path})`,
  '!': (path) => `!has(${path})`,
}

/** `conditions[?(@.type == 'Ready')].status`. */
const ENTRY = /^(.+?)\[\?\(@\.(\w+)\s*==\s*['"]([^'"]*)['"]\)\]\.(.+)$/

/** Checks of one's own, which come in place of those of the kind. */
function readinessOf({ custom, disableDefault, ...others }: Fields, left: Left): readonly Fields[] {
  left.push(...untaken('readinessChecks: ', others, ['timeout']))
  if (disableDefault) left.push('disableDefault is left out: write a rule for each kind that is not to be waited for')
  return listOf(custom).flatMap((one) => {
    const { disabled, resourceSelector, labelSelector, requirements, name } = mapOf(one)
    if (disabled) return []
    const ready = listOf(requirements).map((requirement) => {
      const { jsonPath, operator, values } = mapOf(requirement)
      const path = textOf(jsonPath)
        .replace(/^\{?\.?/, '')
        .replace(/\}$/, '')
      const expected = listOf(values).map((value) => (isMap(value) && 'value' in value ? value.value : value))
      const comparison = textOf(operator).toLowerCase()
      const judge = Object.hasOwn(OPERATORS, comparison) ? OPERATORS[comparison] : undefined
      const [, list, key, value, rest] = ENTRY.exec(path) ?? []
      if (list === undefined) return judge?.(`object.${path}`, expected)
      const inner = judge?.(`entry.${rest}`, expected)
      return inner && `object.${list}.exists(entry, entry.${key} == ${celOf(value)} && ${inner})`
    })
    if (ready.includes(undefined)) {
      left.push(`the readiness check ${textOf(name)} is for a person to write as CEL`)
      return []
    }
    const rule = { ready: ready.join(' && ') }
    const selectors = labelSelector === undefined ? listOf(resourceSelector) : [labelSelector]
    return selectors.map((selector) => ({ ...mapOf(selector), ...rule }))
  })
}

function exportsOf(list: unknown, left: Left): Fields {
  const exports = listOf(list).map((one) => {
    const { key, jsonPath, fromResource, fromObjectRef, timeout, ...others } = mapOf(one)
    left.push(...untaken(`the export ${textOf(key)}: `, others))
    if (timeout !== undefined) left.push(`the export ${textOf(key)}: its timeout is left out: that of the item counts`)
    if (fromObjectRef !== undefined)
      left.push(`the export ${textOf(key)}: fromObjectRef is left out: export from that object`)
    const { apiVersion, kind, name, namespace } = mapOf(fromResource)
    const path = textOf(jsonPath)
    const from = { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }
    return [nameFrom(textOf(key)), { ...from, path: path.startsWith('.') ? path : `.${path}` }] as const
  })
  return Object.fromEntries(exports)
}

function helmConfig(config: Fields, left: Left): Fields {
  const { chart, name, namespace, createNamespace, values, exports, exportsFromManifests, readinessChecks, ...others } =
    config
  left.push(...untaken('', others, ['helmDeployment', 'updateStrategy', 'helmDeploymentConfig']))
  if (others.helmDeployment !== false)
    left.push('Helm only renders here: a release that Helm has installed is not taken over, and hooks need hooks: run')
  if (createNamespace) left.push(`createNamespace is left out: let an item before this one apply the namespace`)
  return {
    ...chartOf(mapOf(chart), left),
    ...some('release', textOf(name)),
    ...some('namespace', textOf(namespace)),
    ...(values === undefined || values === null ? {} : { values }),
    ...some('readiness', readinessOf(mapOf(readinessChecks), left)),
    ...some('exports', exportsOf(exportsFromManifests ?? mapOf(exports).exports, left)),
  }
}

function chartOf({ ref, helmChartRepo, resourceRef, archive, ...others }: Fields, left: Left): Fields {
  const { helmChartRepoUrl, helmChartName, helmChartVersion } = mapOf(helmChartRepo)
  if (helmChartName !== undefined)
    return { chart: textOf(helmChartName), repo: textOf(helmChartRepoUrl), version: textOf(helmChartVersion) }
  const [, repository = '', version = ''] = /^(?:oci:\/\/)?(.+?)(?::([^:/]+))?$/.exec(textOf(ref)) ?? []
  if (repository !== '') return { chart: `oci://${repository}`, ...some('version', version) }
  if (resourceRef !== undefined)
    left.push(`the chart is ${textOf(resourceRef)} of the component: name the chart and its version`)
  if (isMap(archive)) left.push('archive is left out: put the chart into the folder of --charts')
  left.push(...untaken('chart: ', others))
  return { chart: 'CHART' }
}
