const icon = (path: string) => () => (
  <svg viewBox="0 0 16 16" aria-hidden="true">
    <path d={path} />
  </svg>
)
export const FindIcon = icon('M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.5 10.5 14 14')
export const BookmarkIcon = icon('M4 2.5h8v11L8 10.6 4 13.5z')
