/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elements.h - reading elements of URDF: attributes as numbers and words, children by name, and a list of
 * unused elements.
 */
#ifndef SALTUSI_ELEMENTS_H
#define SALTUSI_ELEMENTS_H

#include "urdf/robot.h"

/* A supported name of an element or attribute; with a reason it is listed and not used. */
typedef struct saltusi_element_word {
  const char* name;
  const char* unused; /* NULL: it is used */
} saltusi_element_word;

/* An element: which attributes and children it may have; both end with an empty name. */
typedef struct saltusi_element {
  const saltusi_element_word* attributes;
  const saltusi_element_word* children;
} saltusi_element;

/* Lists unused and unknown parts of the element; `whose` is its owner: link "arm". */
void saltusi_element_list(saltusi_robot* robot, const saltusi_xml_node* node,
                          const saltusi_element* about, const char* whose);

/* The value of an attribute; NULL when there is none. */
const char* saltusi_element_text(const saltusi_xml_node* node, const char* attribute);

/* The same, refused when it is missing or empty; "" then. */
const char* saltusi_element_name(saltusi_robot* robot, const saltusi_xml_node* node,
                                 const char* attribute);

/* The only child of this name; NULL: none. A second one is refused. */
const saltusi_xml_node* saltusi_element_child(saltusi_robot* robot, const saltusi_xml_node* node,
                                              const char* name);

/* Exactly `count` numbers; false, with out unchanged, if the attribute is missing. Numbers
 * that are not finite, or so large that squares of them are not, are refused. */
bool saltusi_element_numbers(saltusi_robot* robot, const saltusi_xml_node* node,
                             const char* attribute, int count, double* out);

/* The same for least to most numbers of any text; their count, 0 after a refusal. */
int saltusi_element_read_numbers(saltusi_robot* robot, const saltusi_xml_node* node,
                                 const char* attribute, const char* text, int least, int most,
                                 double* out);

#endif
