/** Titles of columns, above rows of a list that say the same by themselves. */
export function RowsHead({ titles }: { readonly titles: readonly string[] }) {
  return (
    <div className="rows-head" aria-hidden="true">
      {titles.map((title) => (
        <span key={title}>{title}</span>
      ))}
    </div>
  )
}
