/** Script and style of the board, as the platform keeps them beside the code. */
export interface BoardAssets {
  /**
   * @param name of a file in `functions/board/assets`
   * @param headers of the request: validators and encodings are heeded where the platform can
   * @returns 200 or 304; anything else where there is no such file
   */
  fetch(name: string, headers: Headers): Promise<Response>;
}
