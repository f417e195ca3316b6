/** Path of the page that shows an object in its tree. */
export const objectPage = ({ id, rootId }: { readonly id: string; readonly rootId: string }): string =>
  id === rootId ? `/tree/${rootId}` : `/tree/${rootId}?object=${id}`
