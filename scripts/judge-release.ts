/** The facts of a checkout that decide if it can be released. */
export interface ReleaseFacts {
  readonly version: string
  /** The versions in package.json and in package-lock.json. */
  readonly packageVersions: readonly string[]
  readonly changelog: string
  /** Lines of `git status --porcelain`. */
  readonly changes: readonly string[]
  readonly tags: readonly string[]
  /** Files of `test/upgrade/`. */
  readonly dumps: readonly string[]
  /** True if `test/upgrade/` has the schema that schema.graphql has; null: it has none of this version. */
  readonly isSchemaKept: boolean | null
  /** Files of `deploy/`, with the version of the image that each names. */
  readonly images: readonly { readonly file: string; readonly version: string }[]
}

const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/

/** Why this cannot be released; empty: it can. */
export function judgeRelease(facts: ReleaseFacts): readonly string[] {
  const { version, packageVersions, changes, tags, dumps, isSchemaKept, images } = facts
  if (!VERSION.test(version)) return [`${JSON.stringify(version)} is not a version such as 0.2.0.`]
  return [
    ...(changes.length > 0 ? [`The working tree has changes (${changes.length}): commit them.`] : []),
    ...(tags.includes(`v${version}`) ? [`The tag v${version} is there already: choose the next version.`] : []),
    ...(packageVersions.some((one) => one !== version)
      ? [`package.json is of ${packageVersions.join(' and ')}: npm version ${version} --no-git-tag-version`]
      : []),
    ...judgeChangelog(facts),
    ...(dumps.includes(`${version}.sql`)
      ? []
      : [`test/upgrade/${version}.sql is missing: npm run dump:release -- ${version}`]),
    ...(isSchemaKept
      ? []
      : [
          `test/upgrade/${version}.graphql ${isSchemaKept === null ? 'is missing' : 'is not schema.graphql'}: npm run dump:release -- ${version}`,
        ]),
    ...images
      .filter((image) => image.version !== version)
      .map((image) => `${image.file} has the image of ${image.version}: write ${version}.`),
  ]
}

function judgeChangelog({ version, changelog }: ReleaseFacts): readonly string[] {
  const heading = changelog.split('\n').find((line) => line.startsWith(`## [${version}]`))
  if (heading === undefined) return [`CHANGELOG.md has no section "## [${version}] – <date>".`]
  const [, date] = /– (\d{4}-\d{2}-\d{2})$/.exec(heading) ?? []
  const isDate = date !== undefined && !Number.isNaN(Date.parse(date))
  return isDate ? [] : [`CHANGELOG.md: "${heading}" needs the date of the release, such as 2026-12-01.`]
}
