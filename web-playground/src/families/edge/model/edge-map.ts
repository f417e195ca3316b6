import type { ClassCounts } from 'phaseline/client-model'
import { classOf, countPhases } from '../../../model/known.ts'
import type { Row } from '../../../model/object.ts'
import { plural } from '../../../model/words.ts'

/** The map of cloudlets: boxes in boxes. */

/** The fields of a cloudlet that its row does not have. */
export interface CloudletDetails {
  readonly id: string
  readonly version: string | null
  readonly wantedVersion: string | null
  readonly upgradePhase: string
  readonly epoch: number
  readonly resyncedAt: string | null
  readonly drifted: boolean
  /** Null: an object that may not be read. */
  readonly driftedInstances: readonly ({ readonly id: string } | null)[]
  readonly orphans: readonly { readonly kind: string; readonly path: readonly string[]; readonly phase: string }[]
  readonly agents: readonly {
    readonly role: string
    readonly instance: string
    readonly version: string
    readonly leaseUntil: string | null
  }[]
}
/** The most that are read for the map. */
export const DRIFTED_READ = 100
export const ORPHANS_READ = 20

export interface AppBox {
  readonly row: Row
  readonly drifted: boolean
  readonly wrong: boolean
}
export interface ClusterBox extends AppBox {
  readonly apps: readonly AppBox[]
}
export interface Site {
  readonly row: Row
  /** Null before the read. */
  readonly details: CloudletDetails | null
  readonly clusters: readonly ClusterBox[]
  readonly counts: ClassCounts
  /** The number of boxes, clusters and apps. */
  readonly boxes: number
  readonly wrongBoxes: number
  /** Its problems, in a few words each. */
  readonly problems: readonly string[]
}

/** Sites with problems first, the worst first. */
export function sitesOf(
  cloudlets: readonly Row[],
  instances: readonly Row[],
  details: ReadonlyMap<string, CloudletDetails>,
): readonly Site[] {
  const beneath = new Map<string, Row[]>()
  for (const row of instances) {
    const siblings = beneath.get(row.parent?.id ?? '')
    if (siblings) siblings.push(row)
    else beneath.set(row.parent?.id ?? '', [row])
  }
  return cloudlets
    .map((row) => siteOf(row, beneath, details.get(row.id) ?? null))
    .toSorted(
      (a, b) =>
        Number(b.problems.length > 0) - Number(a.problems.length > 0) ||
        b.wrongBoxes - a.wrongBoxes ||
        byName(a.row, b.row),
    )
}

function siteOf(row: Row, beneath: ReadonlyMap<string, readonly Row[]>, details: CloudletDetails | null): Site {
  const drifted = new Set(details?.driftedInstances.flatMap((instance) => instance?.id ?? []))
  const box = (one: Row): AppBox => ({
    row: one,
    drifted: drifted.has(one.id),
    wrong: drifted.has(one.id) || isWrong(one),
  })
  const clusters = sorted(beneath.get(row.id)).map((cluster) => ({
    ...box(cluster),
    apps: sorted(beneath.get(cluster.id)).map(box),
  }))
  const all = clusters.flatMap((cluster) => [cluster, ...cluster.apps])
  return {
    row,
    details,
    clusters,
    counts: countPhases(all.map((one) => one.row.phase)),
    boxes: all.length,
    wrongBoxes: all.filter(({ wrong }) => wrong).length,
    problems: problemsOf(row, details, all),
  }
}
const sorted = (rows: readonly Row[] = []): readonly Row[] => rows.toSorted(byName)
const NAMES = new Intl.Collator(undefined, { numeric: true })
const byName = (a: Row, b: Row): number => NAMES.compare(a.name, b.name)
const isWrong = ({ phase, error }: Row): boolean => classOf(phase) === 'FAILED' || error !== null

function problemsOf({ phase }: Row, details: CloudletDetails | null, boxes: readonly AppBox[]): readonly string[] {
  const failed = boxes.filter(({ row }) => isWrong(row)).length
  const { upgradePhase = 'READY', drifted = false, orphans = [] } = details ?? {}
  const drifting = Math.max(boxes.filter((box) => box.drifted).length, drifted ? 1 : 0)
  return [
    ...(phase === 'READY' ? [] : ['not connected']),
    ...(classOf(upgradePhase) === 'FAILED' ? ['upgrade failed'] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
    ...(drifting > 0 ? [`${orMore(drifting, DRIFTED_READ)} not as recorded`] : []),
    ...(orphans.length > 0 ? [orphansSaid(orphans.length)] : []),
  ]
}

const orMore = (count: number, read: number): string => (count < read ? String(count) : `${read} or more`)
export const orphansSaid = (count: number): string =>
  count < ORPHANS_READ ? plural(count, 'orphan') : `${ORPHANS_READ} or more orphans`

export interface EdgeFilter {
  readonly name: string
  readonly wrongOnly: boolean
}
/** The sites that match the filter, each with its matching boxes. */
export function findSites(sites: readonly Site[], { name, wrongOnly }: EdgeFilter): readonly Site[] {
  const words = name.toLowerCase()
  const has = ({ row }: { readonly row: Row }): boolean => row.name.toLowerCase().includes(words)
  return sites.flatMap((site) => {
    const isNamed = has(site)
    const named = isNamed ? site : narrowed(site, has, true)
    if (!isNamed && named.clusters.length === 0) return []
    if (!wrongOnly) return [named]
    const part = wrongPart(named)
    return part.clusters.length > 0 || (isNamed && site.problems.length > 0) ? [part] : []
  })
}

/** The matching boxes with their parents; `whole`: a matching cluster keeps all of its apps. */
function narrowed(site: Site, isMeant: (box: AppBox) => boolean, whole = false): Site {
  const clusters = site.clusters.flatMap((cluster) => {
    const isIt = isMeant(cluster)
    const apps = whole && isIt ? cluster.apps : cluster.apps.filter(isMeant)
    return isIt || apps.length > 0 ? [{ ...cluster, apps }] : []
  })
  return { ...site, clusters }
}
export const wrongPart = (site: Site): Site => narrowed(site, ({ wrong }) => wrong)

export type Opening = 'all' | 'wrong' | 'closed'
/** The most open boxes: browsers draw them at once, and a reader sees no more. */
const ROOM = 500

/** Decides how far each site is open: by the user's choice, else by the limit. */
export function openings(
  sites: readonly Site[],
  said: ReadonlyMap<string, Opening>,
  isFiltered: boolean,
): ReadonlyMap<string, Opening> {
  const everything = sites.reduce((sum, site) => sum + drawn(site), 0) <= ROOM
  let room = ROOM
  const result = new Map<string, Opening>()
  for (const site of sites) {
    const size = everything || isFiltered ? drawn(site) : site.wrongBoxes
    const opening = said.get(site.row.id) ?? byDefault(size, room, everything || isFiltered)
    result.set(site.row.id, opening)
    if (opening !== 'closed' && !said.has(site.row.id)) room -= size
  }
  return result
}
function byDefault(size: number, room: number, whole: boolean): Opening {
  if (whole) return size <= room ? 'all' : 'closed'
  return size > 0 && size <= room ? 'wrong' : 'closed'
}
const drawn = ({ clusters }: Site): number => clusters.reduce((sum, { apps }) => sum + 1 + apps.length, 0)
