import { useTitle } from '../../ui/title.ts'

/** GraphiQL with example operations for each family. */
export default function ExplorePage() {
  useTitle('Explore')
  return (
    <div className="page">
      <h1>Explore</h1>
    </div>
  )
}
