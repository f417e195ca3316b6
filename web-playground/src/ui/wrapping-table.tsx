import type { ReactNode } from 'react'

export interface TableRow {
  readonly key: string
  readonly name: string
  /** The cells after the name. */
  readonly cells: readonly ReactNode[]
  readonly action: ReactNode
  /** It counts no more. */
  readonly isOver?: boolean
}
interface Props {
  readonly label: string
  /** Titles of the columns, that of the name first; one more column has the actions. */
  readonly columns: readonly string[]
  readonly rows: readonly TableRow[]
}

/** A table whose long names and lists wrap. On a narrow screen each row is a block, whose values have the titles before them. */
export function WrappingTable({ label, columns, rows }: Props) {
  return (
    <section className="wrapping-table" aria-label={label}>
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
        <tbody>
          {rows.map(({ key, name, cells, action, isOver }) => (
            <tr key={key} className={isOver ? 'quiet' : undefined} data-name={name}>
              <th scope="row">{name}</th>
              {cells.map((cell, i) => (
                <td key={columns[i + 1]} data-title={columns[i + 1]}>
                  <span className="brief" title={typeof cell === 'string' ? cell : undefined}>
                    {cell}
                  </span>
                </td>
              ))}
              <td className="row-action">{action}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
