/** A transaction needs a tree that another one has locked. */
export class TreeLocked extends Error {
  override name = 'TreeLocked'
  readonly rootId: string
  constructor(rootId: string) {
    super(`the tree ${rootId} is locked`)
    this.rootId = rootId
  }
}
