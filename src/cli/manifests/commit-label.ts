/** Names the commit whose document an object was made by, on objects that have labels. */
export const COMMIT_LABEL = 'git-commit'

type Labels = Readonly<Record<string, string>>

/** The labels of an object that a commit makes; those that its document leaves out stay. */
export const labelsBy = (commit: string, wanted: Labels | undefined, found: Labels): Labels => ({
  ...(wanted ?? found),
  [COMMIT_LABEL]: commit,
})

/** A document as it is compared: the same is unchanged, whichever commit has made it so. */
export function withoutCommit(document: object): object {
  const { labels, ...rest } = document as { readonly labels?: Labels }
  if (labels === undefined) return document
  const { [COMMIT_LABEL]: _, ...others } = labels
  return Object.keys(others).length > 0 ? { ...rest, labels: others } : rest
}
