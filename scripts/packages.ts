/** Judges package-lock.json: whether each package is what the registry published, and may be used as we use it. */

export interface LockedPackage {
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly link?: boolean
  readonly os?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}
/** By their places, e.g. `node_modules/a/node_modules/b`. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>

/** Licences of shipped packages: they require their text to be passed on, and nothing more. */
const SHIPPED = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'MIT-0'],
  ...['PSF-2.0', 'Python-2.0', 'Unlicense'],
]
/** Licences of build and test tools: they require more of those who pass the package on. */
const OF_TOOLS = [...SHIPPED, 'CC0-1.0', 'CC-BY-4.0', 'EPL-2.0', 'MPL-2.0']
/** Named in a file of the package only. */
const KNOWN: Readonly<Record<string, string>> = {
  buildcheck: 'MIT',
  'cpu-features': 'MIT',
  'seq-queue': 'MIT',
  ssh2: 'MIT',
}

/**
 * @param roots names of the packages that users get, which bring theirs with them
 * @returns what is wrong; empty: nothing
 */
export function problemsOf(packages: LockedPackages, roots: readonly string[]): readonly string[] {
  const shipped = withDependencies(packages, roots)
  return Object.entries(packages).flatMap(([place, found]) => {
    if (place === '' || found.link || isForeignBuild(found)) return []
    const name = nameOf(place)
    const license = found.license ?? KNOWN[name] ?? 'no licence'
    const [allowed, those] = shipped.has(place) ? [SHIPPED, 'packages that users get'] : [OF_TOOLS, 'tools']
    const mayBeUsed = partsOf(license).every((part) => allowed.includes(part))
    return [
      ...(found.integrity ? [] : [`${name} has no integrity: remove it from package-lock.json, and install it again.`]),
      ...(mayBeUsed ? [] : [`${name} has ${license}, which ${those} may not have.`]),
    ]
  })
}

/** A tool's build for another platform, which a registry need not have. */
const isForeignBuild = ({ dev, optional, os, integrity }: LockedPackage): boolean =>
  dev === true && optional === true && os !== undefined && integrity === undefined

const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** All licences of an expression. If it offers a choice, each one must be allowed. */
const partsOf = (license: string): readonly string[] => license.split(/[()]|\s+(?:and|or)\s+/i).filter(Boolean)

function withDependencies(packages: LockedPackages, roots: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const waiting = roots.map((name) => ({ from: '', name }))
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const place = placeOf(packages, next.from, next.name)
    if (place === null || found.has(place)) continue
    found.add(place)
    waiting.push(...needsOf(packages[place]).map((need) => ({ from: place, name: need })))
  }
  return found
}

function needsOf({
  dependencies,
  optionalDependencies,
  peerDependencies = {},
  peerDependenciesMeta,
}: LockedPackage = {}): readonly string[] {
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta?.[name]?.optional)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** As Node finds it: in the folder of the package, or in one above. Null: it is not installed. */
function placeOf(packages: LockedPackages, from: string, name: string): string | null {
  const place = `${from}${from && '/'}node_modules/${name}`
  if (place in packages) return place
  return from === '' ? null : placeOf(packages, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name)
}
