/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * regressions.c - gives files to the harnesses without libFuzzer: what the fuzzers once found, and
 * the scenes.
 *
 *   fuzz_regressions REGRESSIONS SCENES
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int fuzz_formula(const uint8_t* data, size_t size);
int fuzz_scene(const uint8_t* data, size_t size);
int fuzz_urdf(const uint8_t* data, size_t size);

typedef int harness(const uint8_t* data, size_t size);

enum { LARGEST = 1 << 20 };

static int give_file(const char* path, harness* test) {
  FILE* file = fopen(path, "rb");
  uint8_t* data = malloc(LARGEST);
  int failed = file == NULL || data == NULL;
  if (!failed) {
    size_t size = fread(data, 1, LARGEST, file);
    failed = ferror(file) != 0;
    uint8_t* exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees reads past the end */
    for (size_t i = 0; i < size && exact != NULL; i++) {
      exact[i] = data[i];
    }
    failed = failed || exact == NULL || test(exact, size) != 0;
    free(exact);
  }
  if (file != NULL) {
    fclose(file);
  }
  free(data);
  if (failed) {
    fprintf(stderr, "%s: could not be tried\n", path);
  }
  return failed;
}

/* Every file of a folder; how many there were, or -1. */
static int give_folder(const char* folder, const char* below, harness* test) {
  char path[2048];
  snprintf(path, sizeof path, "%s/%s", folder, below);
  DIR* entries = opendir(path);
  if (entries == NULL) {
    fprintf(stderr, "%s: no such folder\n", path);
    return -1;
  }
  int count = 0;
  const struct dirent* entry;
  while (count >= 0 && (entry = readdir(entries)) != NULL) {
    if (entry->d_name[0] != '.') {
      snprintf(path, sizeof path, "%s/%s/%s", folder, below, entry->d_name);
      struct stat about;
      if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        continue; /* asked for by its own name */
      }
      count = give_file(path, test) == 0 ? count + 1 : -1;
    }
  }
  closedir(entries);
  return count;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: fuzz_regressions REGRESSIONS SCENES\n");
    return 2;
  }
  int formulas = give_folder(argv[1], "formula", fuzz_formula);
  int scenes = give_folder(argv[1], "scene", fuzz_scene);
  int robots = give_folder(argv[1], "urdf", fuzz_urdf);
  int usual = give_folder(argv[2], ".", fuzz_scene);
  int shapes = give_folder(argv[2], "shapes", fuzz_scene);
  printf("%d formulas, %d scenes and %d robots that were found, %d usual scenes\n", formulas,
         scenes, robots, usual + shapes);
  return formulas > 0 && scenes > 0 && robots > 0 && usual > 0 && shapes > 0 ? 0 : 1;
}
