import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HEALTH_CAUSES } from '../../src/core/health-causes.ts'

/** The files for Prometheus and Grafana name metrics that there are, and Prometheus takes the rules. */

const ROOT = join(import.meta.dirname, '../..')
const RULES = join(ROOT, 'deploy/prometheus/phaseline.rules.yaml')
const read = (file: string): string => readFileSync(file, 'utf8')
/** Metrics by name, with their labels, from the table that is made of the code. */
const METRICS = new Map(
  [...read(join(ROOT, 'docs/operations.md')).matchAll(/^\| `(phaseline_\w+)(?:\{(.*)\})?` \| (\w+) \|/gm)].map(
    ([, name = '', labels = '', type]) => [name, { labels: labels.split(', '), type }],
  ),
)
const ADDED = ['job', 'instance', 'le']

test.each(['deploy/prometheus/phaseline.rules.yaml', 'deploy/grafana/phaseline.json'])('%s', (file) => {
  const text = read(join(ROOT, file)).replaceAll('\\"', '"')
  const named = [...text.matchAll(/\b(phaseline_\w+)(?:\{([^{}]*)\})?/g)]
  expect(named.length).toBeGreaterThan(10)
  for (const [, name = '', selected = ''] of named) {
    const metric = METRICS.get(name) ?? METRICS.get(name.replace(/_(bucket|count|sum)$/, ''))
    expect(metric, name).toBeDefined()
    for (const [, label = ''] of selected.matchAll(/(\w+)(?:=~|!=|=)/g))
      expect([...(metric?.labels ?? []), ...ADDED], `${name}{${label}}`).toContain(label)
  }
})

test('each cause of health has an alert, which asks for it where it asks for causes', () => {
  const alerts = read(RULES).split('- alert: ').slice(1)
  const named = alerts.flatMap((alert) => /^ +cause: (\w+)$/m.exec(alert)?.[1] ?? [])
  expect(named.toSorted()).toEqual(Object.keys(HEALTH_CAUSES).toSorted())
  const asked = alerts.flatMap((alert) => {
    const [, cause] = /phaseline_health_causes\{cause="(\w+)"\}/.exec(alert) ?? []
    return cause ? [[cause, /^ +cause: (\w+)$/m.exec(alert)?.[1]]] : []
  })
  expect(asked.length).toBeGreaterThan(10)
  for (const [cause, said] of asked) expect(said).toBe(cause)
})

test('promtool accepts the rules', (context) => {
  const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' })
  if (error) return context.skip('promtool is not installed (package prometheus)')
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(status).toBe(0)
})
