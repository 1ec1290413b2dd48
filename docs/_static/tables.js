/* Tables that can be searched and sorted; without this script they are plain tables. */

(() => {
  "use strict";

  const ROWS_WORTH_A_SEARCH = 10;
  const numeric = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  const textOf = (row, column) => row.cells[column].textContent.trim();

  /** Return what a reader types, as words that must all be in a row. */
  const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

  /** Keep what the cells are, where the style sheet lays them out as something else. */
  function addRoles(table) {
    table.setAttribute("role", "table");
    for (const part of [table.tHead, ...table.tBodies]) {
      part.setAttribute("role", "rowgroup");
    }
    for (const row of table.rows) {
      row.setAttribute("role", "row");
      for (const cell of row.cells) {
        const role = { row: "rowheader", col: "columnheader" }[cell.scope] ?? "cell";
        cell.setAttribute("role", role);
      }
    }
  }

  /** Return a box that hides the rows without its words, and tells how many are left. */
  function addSearch(table, line, tell) {
    const label = document.createElement("label");
    label.className = "table-search";
    label.append("Search ");
    const box = document.createElement("input");
    box.type = "search";
    label.append(box);
    line.prepend(label, " ");

    const rows = [...table.tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const filter = () => {
      const wanted = words(box.value);
      rows.forEach((row, number) => {
        row.hidden = !wanted.every((word) => texts[number].includes(word));
      });
      tell();
    };
    box.addEventListener("input", filter);
    box.value = new URLSearchParams(location.search).get("q") ?? "";
    filter();
  }

  function addSorting(table, tell) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => numeric.compare(textOf(a, column), textOf(b, column)));
        table.tBodies[0].append(...(down ? rows.reverse() : rows));
        tell();
      });
    });
  }

  function enhance(table) {
    const line = document.createElement("p");
    line.className = "table-tools";
    const status = document.createElement("span");
    status.setAttribute("role", "status");
    line.append(status);
    table.parentElement.before(line);

    const rows = [...table.tBodies[0].rows];
    const tell = () => {
      const sorted = table.querySelector("th[aria-sort]");
      const order = sorted ? `, sorted by "${sorted.textContent}", ${sorted.getAttribute("aria-sort")}` : "";
      status.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}${order}`;
    };
    addRoles(table);
    if (rows.length > ROWS_WORTH_A_SEARCH) {
      addSearch(table, line, tell);
    }
    addSorting(table, tell);
  }

  document.querySelectorAll(".operations table").forEach(enhance);
})();
