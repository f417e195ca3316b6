import type { ReactNode } from 'react'

interface Props {
  readonly label: string
  /** Titles of the columns; one more column has the actions. */
  readonly columns: readonly string[]
  readonly children: ReactNode
}

/** A table that scrolls sideways where it does not fit. Its last column has the actions. */
export function ScrollingTable({ label, columns, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="table-scroll" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            <th scope="col">
              <span className="hidden">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}
