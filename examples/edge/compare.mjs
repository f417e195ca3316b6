import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

/** The fields of an instance that are compared. */
export const record = ({ path, specRevision, spec }) => ({ path, specRevision, spec })

/** Lines for people, and a verdict: records and folders agree if they have the same instances, specs and revisions. */
export async function compare(records, folder, cloudlets) {
  const found = (await Promise.all(cloudlets.map((name) => instancesIn(join(folder, name), name)))).flat()
  const all = new Set([...records, ...found].map(({ path }) => path))
  const lines = [...all].sort().map((path) => {
    const [recorded, real] = [records, found].map((list) => list.find((one) => one.path === path))
    const same = isDeepStrictEqual(recorded, real)
    return {
      same,
      text: `${same ? '=' : '≠'} ${path.padEnd(12)} ${shown(recorded).padEnd(32)} ${same ? '' : shown(real)}`,
    }
  })
  return { lines: lines.map(({ text }) => text.trimEnd()), agree: lines.every(({ same }) => same) }
}

const shown = (one) => (one ? `revision ${one.specRevision} ${JSON.stringify(one.spec)}` : 'not there')

/** <cluster>/spec.json and <cluster>/apps/<app>/spec.json; a folder without one is half made. */
async function instancesIn(state, cloudlet) {
  const clusters = await read(state, cloudlet)
  const apps = await Promise.all(clusters.map(({ name, path }) => read(join(state, name, 'apps'), path)))
  return [...clusters, ...apps.flat()].map(({ name, ...instance }) => instance)
}

async function read(folder, parent) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name, 'spec.json'), 'utf8').catch(
        () => '{"specRevision":null,"spec":null}',
      )
      return { name, ...record({ path: `${parent}/${name}`, ...JSON.parse(text) }) }
    }),
  )
}
