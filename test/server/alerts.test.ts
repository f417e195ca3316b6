import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

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

test('promtool accepts the rules', (context) => {
  const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' })
  if (error) return context.skip('promtool is not installed (package prometheus)')
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(status).toBe(0)
})
